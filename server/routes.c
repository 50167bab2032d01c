#include "server/routes.h"

#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "server/auth.h"
#include "server/exchange.h"
#include "server/mcp.h"
#include "server/metrics.h"
#include "server/origin.h"
#include "server/server.h"

static void serve_health(struct exchange *exchange)
{
    exchange_reply_text(exchange, 200, "ok");
}

static void check_ready(struct exchange *exchange)
{
    struct error error;

    if (store_check(exchange->server->services->store, &error))
        exchange_reply_text(exchange, 200, "ready");
    else
        exchange_reply_text(exchange, 503, "not ready: %s", error.message);
}

static void write_metrics(struct exchange *exchange)
{
    struct text body = { 0 };

    metrics_write(exchange->server, &body);
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
    { "POST", "/mcp", .serve = mcp_post },
    { "GET", "/mcp", .serve = mcp_get },
    { "DELETE", "/mcp", .serve = mcp_delete },
    { "GET", "/health", .open = true, .quiet = true, .serve = serve_health },
    { "GET", "/ready", .open = true, .quiet = true, .serve = serve_ready },
    { "GET", "/metrics", .quiet = true, .serve = serve_metrics },
    { 0 },
};

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

static void refuse_route(struct exchange *exchange, const char *path)
{
    TEXT_AUTO allowed = { 0 };

    for (const struct route *route = routes; route->path != NULL; route++)
        if (path_is(route, path))
            text_addf(&allowed, "%s%s", allowed.length > 0 ? ", " : "", route->verb);
    if (allowed.length == 0) {
        exchange_reply_text(exchange, 404, "there is no such path; MCP clients connect to /mcp");
        return;
    }
    exchange_add_header(exchange, "Allow", text_string(&allowed));
    exchange_reply_text(exchange, 405, "this path takes %s", text_string(&allowed));
}

/* Two who read such a request, we and a proxy before us, could each read another one. */
static bool check_headers(struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;
    bool two_lengths = headers->content_length != NULL && headers->transfer_encoding != NULL;

    if (headers->repeated == NULL && !two_lengths)
        return true;
    if (headers->repeated != NULL)
        exchange_reply_text(exchange, 400, "the header %s came twice", headers->repeated);
    else
        exchange_reply_text(exchange, 400, "Content-Length and Transfer-Encoding contradict");
    exchange->reply.closes = true;
    return false;
}

static bool check_origin(struct exchange *exchange)
{
    const struct http_headers *headers = &exchange->headers;
    struct error error;

    if (origin_check(&exchange->server->origin_rules, headers->host, headers->origin, &error))
        return true;
    log_warning("%s: %s", exchange->id, error.message);
    exchange_reply_text(exchange, 403, "%s", error.message);
    return false;
}

static void check_principal(struct exchange *exchange)
{
    const char *authorization = exchange->headers.authorization;
    struct error error;

    if (authority_check(exchange->server->authority, authorization, &exchange->principal, &error))
        return;
    if (error.kind != ERROR_UNAUTHENTICATED) {
        log_error("%s: key: %s", exchange->id, error.message);
        exchange_reply_text(exchange, 500, "internal error, see request %s", exchange->id);
        return;
    }
    exchange_add_header(exchange, "WWW-Authenticate",
                        authorization != NULL ? "Bearer realm=\"opsbrain\", error=\"invalid_token\""
                                              : "Bearer realm=\"opsbrain\"");
    exchange_reply_text(exchange, 401, "%s", error.message);
}

void routes_admit(struct exchange *exchange, const char *path)
{
    exchange->route = find(exchange->verb, path);
    if (exchange->route != NULL)
        exchange->row = exchange->server->route_rows[exchange->route - routes];
    if (exchange->route != NULL && exchange->route->open)
        return;
    if (!check_headers(exchange))
        return;
    if (!check_origin(exchange))
        return;
    else if (exchange->route == NULL)
        refuse_route(exchange, path);
    else
        check_principal(exchange);
}
