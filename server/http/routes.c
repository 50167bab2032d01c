/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/routes.h"

#include <string.h>
#include <strings.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "server/access/authority.h"
#include "server/http/cors.h"
#include "server/http/exchange.h"
#include "server/http/http_connection.h"
#include "server/http/origin.h"
#include "server/http/request_target.h"
#include "server/http/upload.h"
#include "server/mcp/mcp.h"
#include "server/program/audit_notes.h"
#include "server/program/server.h"
#include "server/telemetry/metrics_endpoint.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/store.h"

static void serve_health(struct exchange *exchange)
{
    exchange_reply_text(exchange, 200, "ok");
}

static void check_ready(struct exchange *exchange)
{
    struct store *store = exchange->server->services->store;
    struct error error;

    if (!store_check(store, &error))
        exchange_reply_text(exchange, 503, "not ready: %s", error.message);
    else if (!disk_space_check(store, &error))
        exchange_reply_text(exchange, 200, "ready, but %s", error.message);
    else
        exchange_reply_text(exchange, 200, "ready");
}

static void write_metrics(struct exchange *exchange)
{
    struct text body = { 0 };

    metrics_endpoint_write(exchange->server, &body);
    exchange_reply(exchange, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
}

static void submit(struct exchange *exchange, void (*work)(struct exchange *exchange))
{
    struct error error;

    if (!exchange_submit(exchange, exchange->server->workers, work, &error))
        exchange_reply_text(exchange, 503, "%s", error.message);
}

static void serve_ready(struct exchange *exchange)
{
    submit(exchange, check_ready);
}

static void serve_metrics(struct exchange *exchange)
{
    submit(exchange, write_metrics);
}

const struct route routes[] = {
    { "POST", "/mcp", .limited = true, .role = ROLE_VIEWER, .serve = mcp_post },
    { "GET", "/mcp", .limited = true, .role = ROLE_VIEWER, .serve = mcp_get },
    { "DELETE", "/mcp", .limited = true, .role = ROLE_VIEWER, .serve = mcp_delete },
    { "POST", "/v1/imports", .limited = true, .role = ROLE_OPERATOR, .serve = upload_serve,
      .take = upload_take, .body_limit = UPLOAD_LIMIT_BYTES },
    { "POST", "/v1/datasets", .limited = true, .role = ROLE_OPERATOR, .serve = upload_serve_dataset,
      .take = upload_take, .body_limit = UPLOAD_LIMIT_BYTES },
    { "GET", "/health", .open = true, .quiet = true, .serve = serve_health },
    { "GET", "/ready", .open = true, .quiet = true, .serve = serve_ready },
    { "GET", "/metrics", .quiet = true, .role = ROLE_VIEWER, .serve = serve_metrics },
    { 0 },
};

bool routes_check(const struct route *table, struct error *error)
{
    for (; table->path != NULL; table++)
        if (table->open != (table->role == ROLE_NONE))
            return error_set(error, ERROR_INTERNAL, "the route %s %s must be open or have a role",
                             table->verb, table->path);
    return true;
}

/* With or without a slash at its end. */
static bool path_is(const struct route *route, const char *path)
{
    size_t length = strlen(route->path);

    return strncmp(route->path, path, length) == 0
           && (path[length] == '\0' || strcmp(path + length, "/") == 0);
}

/* Probes also answer HEAD; a stream has no use for it. */
static bool verb_is(const struct route *route, const char *verb)
{
    return strcmp(route->verb, verb) == 0
           || (route->open && strcmp(verb, "HEAD") == 0 && strcmp(route->verb, "GET") == 0);
}

static const struct route *find(const char *verb, const char *path)
{
    for (const struct route *route = routes; route->path != NULL; route++)
        if (path_is(route, path) && verb_is(route, verb))
            return route;
    return NULL;
}

/* The methods of a path, separated by commas; empty: there is no such path. */
static void list_verbs(const char *path, struct text *out)
{
    for (const struct route *route = routes; route->path != NULL; route++)
        if (path_is(route, path))
            text_addf(out, "%s%s", out->length > 0 ? ", " : "", route->verb);
}

static void refuse_route(struct exchange *exchange, const char *path)
{
    TEXT_AUTO verbs = { 0 };

    list_verbs(path, &verbs);
    if (verbs.length == 0) {
        mcp_refuse(exchange, 404, RPC_REFUSED,
                   "there is no such path; MCP clients connect to /mcp");
    } else if (cors_is_preflight(exchange)) {
        cors_answer_preflight(exchange, text_string(&verbs));
    } else {
        exchange_add_header(exchange, "Allow", text_string(&verbs));
        mcp_refuse(exchange, 405, RPC_REFUSED, "this path takes %s", text_string(&verbs));
    }
}

/* Two readers of such a request, we and a proxy before us, could each read a different one. What
 * can be seen without knowing the headers was checked already: request_guard.h. */
static bool check_headers(struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;

    if (!exchange->connection->target_is_sound)
        mcp_refuse(exchange, 400, RPC_REFUSED,
                   "the target must be a path, or http://HOST with a path, and have no %%00");
    else if (headers->repeated != NULL)
        mcp_refuse(exchange, 400, RPC_REFUSED, "the header %s came twice", headers->repeated);
    else if (headers->needs_host && headers->host == NULL)
        mcp_refuse(exchange, 400, RPC_REFUSED, "the header Host is missing");
    exchange->reply.closes = exchange->reply.status != 0; /* what follows is not to be trusted */
    return exchange->reply.status == 0;
}

static bool check_origin(struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;
    struct error error;

    if (origin_check(&exchange->server->origin_rules, headers->host, headers->origin, &error)) {
        if (headers->origin != NULL)
            cors_allow(exchange);
        return true;
    }
    log_warning("%s: %s", exchange->id, error.message);
    mcp_refuse(exchange, 403, RPC_REFUSED, "%s", error.message);
    return false;
}

static bool check_principal(struct exchange *exchange)
{
    const char *authorization = exchange->headers.authorization;
    struct error error;

    if (authority_check(exchange->server->authority, authorization, &exchange->principal, &error)) {
        exchange->connection->is_known = true;
        return true;
    }
    if (error.kind != ERROR_UNAUTHENTICATED) {
        mcp_refuse_fault(exchange, "key", &error);
        return false;
    }
    audit_note_login(exchange, error.message);
    exchange_add_header(exchange, "WWW-Authenticate",
                        authorization != NULL ? "Bearer realm=\"opsbrain\", error=\"invalid_token\""
                                              : "Bearer realm=\"opsbrain\"");
    mcp_refuse(exchange, 401, RPC_REFUSED, "%s", error.message);
    return false;
}

static void check_role(struct exchange *exchange)
{
    const struct principal *principal = &exchange->principal;

    if (!role_allows(principal->role, exchange->route->role))
        mcp_refuse(exchange, 403, RPC_REFUSED, "%s needs the role %s; %s has the role %s",
                   exchange->route->path, role_name(exchange->route->role), principal->name,
                   role_name(principal->role));
}

/* The host in a whole URI takes precedence over the Host header (RFC 9112, 3.2.2). */
static void take_authority(struct exchange *exchange, const char *authority, size_t length)
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

    exchange->route = find(exchange->verb, path);
    if (exchange->route != NULL)
        exchange->row = exchange->server->route_rows[exchange->route - routes];
    if (!check_headers(exchange))
        return;
    take_authority(exchange, authority, length);
    if (exchange->route != NULL && exchange->route->open)
        return;
    if (!check_origin(exchange))
        return;
    if (exchange->route == NULL)
        refuse_route(exchange, path);
    else if (check_principal(exchange))
        check_role(exchange);
}
