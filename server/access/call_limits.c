/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/call_limits.h"

#include <stdio.h>

#include "base/core/clock.h"
#include "base/core/rate_limit.h"
#include "base/json/json_scan.h"
#include "server/access/authority.h"
#include "server/http/exchange.h"
#include "server/http/http.h"
#include "server/http/routes.h"

#define ID_LIMIT 1024 /* the longest id that is echoed, in bytes */

/* Adds the id of a JSON-RPC message, exactly as the client wrote it, without parsing the whole
 * message. Adds nothing if there is no id that can be echoed, or if the body is a batch. */
static void find_id(const struct text *body, struct text *out)
{
    struct json_scan scan;
    const char *value;
    size_t length;

    json_scan_init(&scan, text_string(body), body->length);
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT)
        return;
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        bool is_id = json_scan_is(&scan, "id");

        if (!json_scan_value(&scan, &value, &length))
            return;
        if (is_id && length <= ID_LIMIT && (*value == '"' || *value == '-' || *value <= '9')) {
            text_add_bytes(out, value, length);
            return;
        }
    }
}

static void refuse(const struct call_limits *limits, struct exchange *exchange, int64_t wait_ms)
{
    TEXT_AUTO id = { 0 };
    struct text body = { 0 };
    char message[256];

    find_id(&exchange->body, &id);
    snprintf(message, sizeof message,
             "too many requests: %s may send %lld per second (setting rate_per_principal); try "
             "again in %lld s",
             exchange->principal.name, (long long)limits->settings->rate_per_principal,
             (long long)exchange_add_retry_after(exchange, wait_ms));
    if (id.length == 0) {
        exchange_refuse(exchange, 429, "%s", message);
        return;
    }
    exchange->http->write_refusal(429, id.data, message, &body);
    exchange_reply(exchange, 429, "application/json", &body);
}

static bool is_limited(const struct exchange *exchange)
{
    return exchange->route != NULL && exchange->route->limited;
}

/* While no keys are needed, every caller is `local`, and the rate is limited only if
 * rate_per_principal is not at its default. */
static bool has_rate(const struct call_limits *limits)
{
    return limits->settings->rate_per_principal != RATE_BY_DEFAULT
           || authority_needs_keys(limits->authority);
}

bool call_limits_check_rate(const struct call_limits *limits, struct exchange *exchange)
{
    int64_t wait_ms;

    if (!is_limited(exchange) || !has_rate(limits)
        || rate_limit_spend(limits->principals, exchange->principal.name, exchange->started_ns,
                            &wait_ms))
        return true;
    refuse(limits, exchange, wait_ms);
    return false;
}

bool call_limits_run_inline(const struct call_limits *limits, struct exchange *exchange,
                            void (*run)(struct exchange *exchange))
{
    bool is_counted = is_limited(exchange) && has_rate(limits);
    int64_t begun_ns = clock_monotonic_ns(), now_ns, wait_ms;

    if (is_counted
        && !rate_limit_spend(limits->inline_us, exchange->principal.name, begun_ns, &wait_ms))
        return false;
    run(exchange);
    now_ns = clock_monotonic_ns();
    if (is_counted)
        rate_limit_charge(limits->inline_us, exchange->principal.name, (now_ns - begun_ns) / 1000,
                          now_ns);
    return true;
}

bool call_limits_enter(const struct call_limits *limits, struct exchange *exchange,
                       struct error *error)
{
    if (!is_limited(exchange))
        return true;
    exchange->has_place = rate_limit_enter(limits->principals, exchange->principal.name);
    exchange->over_limit = !exchange->has_place;
    return exchange->has_place
           || error_set(error, ERROR_BUSY,
                        "too many calls at once: %s has %lld in progress, as many as the setting "
                        "calls_per_principal allows; try again when one is done",
                        exchange->principal.name, (long long)limits->settings->calls_per_principal);
}

void call_limits_leave(const struct call_limits *limits, struct exchange *exchange)
{
    if (exchange->has_place)
        rate_limit_leave(limits->principals, exchange->principal.name);
    exchange->has_place = false;
}
