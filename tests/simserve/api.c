/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/api.h"

#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "tests/simserve/body.h"
#include "tests/simserve/control.h"
#include "tests/simserve/generate.h"

#define JSON_TYPE "application/json"

void api_respond(struct connection *connection, int status, const char *content_type,
                 const char *extra, const char *body, size_t length)
{
    TEXT_AUTO answer = { 0 };

    http_add_head(&answer, status, content_type, extra, (int64_t)length);
    text_add_bytes(&answer, body, length);
    connection_send(connection, answer.data, answer.length);
    connection_done(connection);
}

void api_respond_json_take(struct connection *connection, int status, json_t *body)
{
    json_auto_t *owned = body;
    FREE_AUTO char *text = json_write(owned);

    api_respond(connection, status, JSON_TYPE, NULL, text, strlen(text));
}

void api_respond_error(struct connection *connection, int status, const char *type,
                       const char *message, const char *extra)
{
    json_auto_t *body = status == 401 ? json_pack("{s:s}", "error", message)
                                      : json_pack("{s:{s:s, s:s, s:n, s:i}}", "error", "message",
                                                  message, "type", type, "param", "code", status);
    FREE_AUTO char *text = json_write(body);

    api_respond(connection, status, JSON_TYPE, extra, text, strlen(text));
}

void api_respond_failure(struct connection *connection, const struct error *error)
{
    if (error->kind == ERROR_NOT_FOUND)
        api_respond_error(connection, 404, "NotFoundError", error->message, NULL);
    else
        api_respond_error(connection, 400, "BadRequestError", error->message, NULL);
}

bool api_read_json(struct connection *connection, json_t **out)
{
    const struct http_request *request = &connection->request;
    const char *body = connection->input.data + request->head_bytes;
    struct error error;

    if (json_parse(body, request->body_bytes, out, &error))
        return true;
    api_respond_failure(connection, &error);
    return false;
}

static void respond_text(struct connection *connection, const char *content_type,
                         const struct text *body)
{
    api_respond(connection, 200, content_type, NULL, text_string(body), body->length);
}

static void health(struct connection *connection)
{
    api_respond(connection, 200, JSON_TYPE, NULL, "", 0);
}

static void version(struct connection *connection)
{
    api_respond_json_take(connection, 200, json_pack("{s:s}", "version", "0.26.0"));
}

static void models(struct connection *connection)
{
    const struct config *config = &connection->server->config;
    json_int_t created = (json_int_t)(clock_utc_ms() / 1000);

    api_respond_json_take(connection, 200,
                          json_pack("{s:s, s:[{s:s, s:s, s:I, s:s, s:s, s:n, s:I, s:[]}]}",
                                    "object", "list", "data", "id", config->model, "object",
                                    "model", "created", created, "owned_by", "vllm", "root",
                                    config->model, "parent", "max_model_len",
                                    (json_int_t)config->max_model_len, "permission"));
}

static void metrics(struct connection *connection)
{
    TEXT_AUTO body = { 0 };

    metrics_write(connection->server, &body);
    respond_text(connection, "text/plain; version=0.0.4; charset=utf-8", &body);
}

/* Reads the prompt from the body or, if `wants_ids`, the list of token ids. On failure, answers 400
 * and returns false. The caller releases *out with body_finish in either case. */
static bool read_tokens(struct connection *connection, bool wants_ids, struct body *out)
{
    struct server *server = connection->server;
    struct error error;

    if (!body_read(server->tokenizer, &server->config,
                   connection->input.data + connection->request.head_bytes,
                   connection->request.body_bytes, out, &error)) {
        api_respond_failure(connection, &error);
        return false;
    }
    if (out->given != BODY_NOTHING && (out->given == BODY_IDS) == wants_ids)
        return true;
    api_respond_error(connection, 400, "BadRequestError",
                      wants_ids ? "\"tokens\" is missing" : "\"prompt\" or \"messages\" is missing",
                      NULL);
    return false;
}

static void tokenize(struct connection *connection)
{
    BODY_AUTO body = { 0 };
    TEXT_AUTO answer = { 0 };

    if (!read_tokens(connection, false, &body))
        return;
    text_addf(&answer, "{\"count\":%zu,\"max_model_len\":%lld,\"tokens\":[", body.tokens.count,
              (long long)connection->server->config.max_model_len);
    for (size_t i = 0; i < body.tokens.count; i++)
        text_addf(&answer, i > 0 ? ",%u" : "%u", body.tokens.ids[i]);
    text_add(&answer, "],\"token_strs\":null}");
    respond_text(connection, JSON_TYPE, &answer);
}

static void detokenize(struct connection *connection)
{
    BODY_AUTO body = { 0 };
    TEXT_AUTO prompt = { 0 };
    TEXT_AUTO answer = { 0 };

    if (!read_tokens(connection, true, &body))
        return;
    tokenizer_decode(connection->server->tokenizer, body.tokens.ids, body.tokens.count, &prompt);
    text_add(&answer, "{\"prompt\":");
    json_add_string(&answer, text_string(&prompt), prompt.length);
    text_add_char(&answer, '}');
    respond_text(connection, JSON_TYPE, &answer);
}

static void reset_prefix_cache(struct connection *connection)
{
    model_cool(connection->server);
    api_respond(connection, 200, JSON_TYPE, NULL, "", 0);
}

static const struct route {
    const char *method;
    const char *path;
    void (*answer)(struct connection *connection);
    bool guarded; /* requests need the key that --api-key sets, if any */
} routes[] = {
    { "GET", "/health", health },
    { "GET", "/ping", health },
    { "POST", "/ping", health },
    { "GET", "/version", version },
    { "GET", "/metrics", metrics },
    { "GET", "/v1/models", models, true },
    { "POST", "/v1/chat/completions", generate_chat, true },
    { "POST", "/v1/completions", generate_completions, true },
    { "POST", "/tokenize", tokenize },
    { "POST", "/detokenize", detokenize },
    { "POST", "/reset_prefix_cache", reset_prefix_cache },
    { "GET", "/sim/config", control_config_show },
    { "POST", "/sim/config", control_config_apply },
    { "GET", "/sim/truth", control_truth },
    { "GET", "/sim/lag", control_lag },
    { "GET", "/sim/summary", control_summary },
    { "POST", "/sim/reset", control_reset },
};

static bool authorized(const struct connection *connection, const struct route *route)
{
    const char *key = connection->server->config.api_key;
    const char *given = connection->request.authorization;

    return !route->guarded || key[0] == '\0'
           || (strncmp(given, "Bearer ", 7) == 0 && strcmp(given + 7, key) == 0);
}

static const struct route *route_find(const struct http_request *request, bool *path_known)
{
    *path_known = false;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (strcmp(routes[i].path, request->path) != 0)
            continue;
        *path_known = true;
        if (strcmp(routes[i].method, request->method) == 0)
            return &routes[i];
    }
    return NULL;
}

void api_dispatch(struct connection *connection)
{
    bool path_known;
    const struct route *route = route_find(&connection->request, &path_known);

    if (route == NULL && path_known)
        api_respond_json_take(connection, 405, json_pack("{s:s}", "detail", "Method Not Allowed"));
    else if (route == NULL)
        api_respond_json_take(connection, 404, json_pack("{s:s}", "detail", "Not Found"));
    else if (!authorized(connection, route))
        api_respond_error(connection, 401, "", "Unauthorized", NULL);
    else
        route->answer(connection);
}
