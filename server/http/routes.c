/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/routes.h"

#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "server/http/cors.h"
#include "server/http/exchange.h"
#include "server/http/http.h"
#include "server/http/http_connection.h"
#include "server/http/origin.h"
#include "server/http/request_target.h"
#include "server/http/route_pattern.h"

bool routes_check(const struct route *table, struct error *error)
{
    for (; table->path != NULL; table++)
        if (table->admit == NULL && table->open != (table->role == ROLE_NONE))
            return error_set(error, ERROR_INTERNAL,
                             "the route %s %s must either be open or have a role", table->verb,
                             table->path);
    return true;
}

static bool path_is(const struct route *route, const char *path)
{
    struct route_places ignored;

    return route_pattern_matches(route->path, path, &ignored);
}

/* A GET route that is open or a page also answers HEAD; the others, such as MCP's, do not. */
static bool answers_head(const struct route *route)
{
    return (route->open || route->admit != NULL) && strcmp(route->verb, "GET") == 0;
}

static bool verb_is(const struct route *route, const char *verb)
{
    return strcmp(route->verb, verb) == 0 || (strcmp(verb, "HEAD") == 0 && answers_head(route));
}

static void find(struct exchange *exchange, const char *path)
{
    for (const struct route_set *set = exchange->http->routes; set->routes != NULL; set++)
        for (const struct route *route = set->routes; route->path != NULL; route++)
            if (path_is(route, path) && verb_is(route, exchange->verb)) {
                exchange->route = route;
                exchange->context = set->context;
                exchange->row = set->rows[route - set->routes];
                return;
            }
}

/* Lists the verbs of a path's routes, separated by commas; empty: there is no such path. *has_page:
 * whether the path is that of a page; unchanged if there is no such path. */
static void list_verbs(const struct route_set *set, const char *path, struct text *out,
                       bool *has_page)
{
    for (; set->routes != NULL; set++)
        for (const struct route *route = set->routes; route->path != NULL; route++)
            if (path_is(route, path)) {
                text_addf(out, "%s%s%s", out->length > 0 ? ", " : "", route->verb,
                          answers_head(route) ? ", HEAD" : "");
                *has_page = route->admit != NULL;
            }
}

static void refuse_route(struct exchange *exchange, const char *path)
{
    TEXT_AUTO verbs = { 0 };
    bool has_page = false;

    list_verbs(exchange->http->routes, path, &verbs, &has_page);
    if (verbs.length == 0) {
        exchange_refuse(exchange, 404, "there is no such path; MCP clients connect to /mcp");
    } else if (cors_is_preflight(exchange) && !has_page) {
        cors_answer_preflight(exchange, text_string(&verbs));
    } else {
        exchange_add_header(exchange, "Allow", text_string(&verbs));
        exchange_refuse(exchange, 405, "this path allows only %s%s", text_string(&verbs),
                        has_page ? "; MCP clients connect to /mcp" : "");
    }
}

/* Refuses what a proxy and this server could interpret as different requests. The guard has already
 * checked the form of the request (request_guard.h). */
static bool check_target_and_headers(struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;

    if (!exchange->connection->target_is_sound)
        exchange_refuse(
            exchange, 400,
            "the target must be a path or http://HOST with a path, and must not contain %%00");
    else if (headers->repeated != NULL)
        exchange_refuse(exchange, 400, "the header %s occurs twice", headers->repeated);
    else if (headers->needs_host && headers->host == NULL)
        exchange_refuse(exchange, 400, "the header Host is missing");
    /* after such a request, the rest of the connection cannot be trusted */
    exchange->reply.closes = exchange->reply.status != 0;
    return exchange->reply.status == 0;
}

static bool is_page(const struct exchange *exchange)
{
    return exchange->route != NULL && exchange->route->admit != NULL;
}

static bool check_origin(struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;
    struct error error;

    if (origin_check(&exchange->http->origin_rules, headers->host, headers->origin, &error)) {
        if (headers->origin != NULL && !is_page(exchange))
            cors_allow(exchange);
        return true;
    }
    log_warning("%s: %s", exchange->id, error.message);
    exchange_refuse(exchange, 403, "%s", error.message);
    return false;
}

static bool check_principal(struct exchange *exchange, const char *path)
{
    if (!(is_page(exchange) ? exchange->route->admit(exchange, path)
                            : exchange->http->gate->admit(exchange)))
        return false;
    exchange->connection->is_known |= exchange->principal.name[0] != '\0';
    return true;
}

static void check_role(struct exchange *exchange)
{
    const struct principal *principal = &exchange->principal;

    if (exchange->route->role != ROLE_NONE && !role_allows(principal->role, exchange->route->role))
        exchange_refuse(exchange, 403, "%s needs the role %s; %s has the role %s",
                        exchange->route->path, role_name(exchange->route->role), principal->name,
                        role_name(principal->role));
}

/* The host in a whole URI takes precedence over the Host header (RFC 9112, 3.2.2). */
static void set_host(struct exchange *exchange, const char *authority, size_t length)
{
    if (authority == NULL)
        return;
    exchange->authority = memory_zeroed(length + 1, 1);
    memcpy(exchange->authority, authority, length);
    exchange->headers.host = exchange->authority;
}

void routes_admit(struct exchange *exchange, const char *target)
{
    const char *authority;
    size_t length;
    const char *path = request_target_path(target, &authority, &length);

    find(exchange, path);
    if (!check_target_and_headers(exchange))
        return;
    set_host(exchange, authority, length);
    if (exchange->route != NULL && exchange->route->open)
        return;
    if (!check_origin(exchange))
        return;
    if (exchange->route == NULL)
        refuse_route(exchange, path);
    else if (check_principal(exchange, path))
        check_role(exchange);
}
