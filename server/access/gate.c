/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/gate.h"

#include "base/core/log.h"
#include "server/access/authority.h"
#include "server/http/exchange.h"
#include "store/audit/audit_log.h"

static const struct gate *gate_of(const struct exchange *exchange)
{
    return exchange->http->gate_context;
}

void gate_count_refused_login(const struct exchange *exchange, const char *why)
{
    const struct ip_address network = ip_client_network(&exchange->client);
    const struct change change = {
        .actor = { .principal = AUDIT_NOBODY, .request_id = exchange->id }, .tool = "login"
    };
    char address[IP_TEXT_SIZE];
    const struct audit_event event = { AUDIT_LOGIN, &change, "unauthenticated", why, address };
    struct error problem;

    ip_format(&network, address);
    if (!audit_log_count(gate_of(exchange)->store, &event, &problem))
        log_warning("%s: cannot count a refused login in the audit log: %s", exchange->id,
                    problem.message);
}

static bool admit(struct exchange *exchange)
{
    const char *authorization = exchange->headers.authorization;
    struct error error;

    if (authority_check(gate_of(exchange)->authority, authorization, &exchange->principal, &error))
        return true;
    if (error.kind != ERROR_UNAUTHENTICATED) {
        exchange_refuse_fault(exchange, "the API key cannot be checked", &error);
        return false;
    }
    gate_count_refused_login(exchange, error.message);
    exchange_add_header(exchange, "WWW-Authenticate",
                        authorization != NULL ? "Bearer realm=\"opsbrain\", error=\"invalid_token\""
                                              : "Bearer realm=\"opsbrain\"");
    exchange_refuse(exchange, 401, "%s", error.message);
    return false;
}

static bool may_continue(const struct exchange *exchange)
{
    return authority_still_admits(gate_of(exchange)->authority, &exchange->principal);
}

static bool check_rate(struct exchange *exchange)
{
    return call_limits_check_rate(&gate_of(exchange)->limits, exchange);
}

static CHECKED bool enter(struct exchange *exchange, struct error *error)
{
    return call_limits_enter(&gate_of(exchange)->limits, exchange, error);
}

static void leave(struct exchange *exchange)
{
    call_limits_leave(&gate_of(exchange)->limits, exchange);
}

const struct http_gate gate_functions = {
    .admit = admit,
    .may_continue = may_continue,
    .check_rate = check_rate,
    .enter = enter,
    .leave = leave,
};
