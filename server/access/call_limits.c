/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/call_limits.h"

#include <stdio.h>

#include "base/core/clock.h"
#include "base/json/json_scan.h"
#include "server/access/authority.h"
#include "server/access/rate_limit.h"
#include "server/http/exchange.h"
#include "server/http/routes.h"
#include "server/mcp/mcp.h"
#include "server/program/server.h"

/* The id of a message, as it is written, without building a tree of it: "" if it has none that can
 * be echoed, or is a batch. */
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
        if (is_id && length <= RPC_ID_LIMIT && (*value == '"' || *value == '-' || *value <= '9')) {
            text_add_bytes(out, value, length);
            return;
        }
    }
}

static void refuse(struct exchange *exchange, int64_t wait_ms)
{
    const struct settings *settings = exchange->server->settings;
    struct rpc rpc = { .era = ERA_LEGACY };
    struct text id = { 0 };
    struct text json = { 0 };
    char seconds[24];

    snprintf(seconds, sizeof seconds, "%lld", (long long)(wait_ms + 999) / 1000);
    exchange_add_header(exchange, "Retry-After", seconds);
    find_id(&exchange->body, &id);
    rpc_fail(&rpc, RPC_REFUSED, 429,
             "too many requests: %s may send %lld in a second (setting rate_per_principal); try "
             "again in %s s",
             exchange->principal.name, (long long)settings->rate_per_principal, seconds);
    rpc.id = id.length > 0 ? id.data : NULL;
    rpc_write(&rpc, &json);
    exchange_reply(exchange, 429, "application/json", &json);
    text_finish(&id);
}

static bool is_limited(const struct exchange *exchange)
{
    return exchange->route != NULL && exchange->route->limited;
}

/* Without keys every caller is `local`, and there are no limits unless they were set. */
static bool has_rate(const struct server *server)
{
    return server->settings->rate_per_principal != RATE_BY_DEFAULT
           || authority_needs_keys(server->authority);
}

bool call_limits_check_rate(struct exchange *exchange)
{
    int64_t wait_ms;

    if (!is_limited(exchange) || !has_rate(exchange->server)
        || rate_limit_spend(exchange->server->principals, exchange->principal.name,
                            exchange->started_ns, &wait_ms))
        return true;
    refuse(exchange, wait_ms);
    return false;
}

bool call_limits_may_run_inline(const struct exchange *exchange)
{
    int64_t wait_ms;

    return !is_limited(exchange) || !has_rate(exchange->server)
           || rate_limit_spend(exchange->server->inline_us, exchange->principal.name,
                               clock_monotonic_ns(), &wait_ms);
}

int64_t call_limits_begin_inline(const struct exchange *exchange)
{
    return is_limited(exchange) && has_rate(exchange->server) ? clock_monotonic_ns() : 0;
}

void call_limits_end_inline(const struct exchange *exchange, int64_t begun_ns)
{
    int64_t now_ns;

    if (begun_ns == 0)
        return;
    now_ns = clock_monotonic_ns();
    rate_limit_charge(exchange->server->inline_us, exchange->principal.name,
                      (now_ns - begun_ns) / 1000, now_ns);
}

bool call_limits_enter(struct exchange *exchange, struct error *error)
{
    if (!is_limited(exchange))
        return true;
    exchange->has_place = rate_limit_enter(exchange->server->principals, exchange->principal.name);
    exchange->over_limit = !exchange->has_place;
    return exchange->has_place
           || error_set(error, ERROR_BUSY,
                        "too many calls at once: %s has %lld in progress, as many as the setting "
                        "calls_per_principal allows; try again when one is done",
                        exchange->principal.name,
                        (long long)exchange->server->settings->calls_per_principal);
}

void call_limits_leave(struct exchange *exchange)
{
    if (exchange->has_place)
        rate_limit_leave(exchange->server->principals, exchange->principal.name);
    exchange->has_place = false;
}
