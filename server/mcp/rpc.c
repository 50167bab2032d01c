/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/rpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "server/http/exchange.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/protocol.h"

json_t *rpc_link_block(const char *name, const char *uri)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "type", "resource_link", "name", name, "mimeType",
                     "text/html", "uri", uri);
}

char *rpc_token(const json_t *token)
{
    struct text text = { 0 };

    if (json_is_integer(token))
        text_add_integer(&text, json_integer_value(token));
    else if (json_is_string(token) && json_string_length(token) <= RPC_ID_LIMIT)
        json_add_string(&text, json_string_value(token), json_string_length(token));
    else
        return NULL;
    return text_take(&text);
}

static enum rpc_kind broken(struct rpc *rpc, const char *why)
{
    rpc_fail(rpc, RPC_INVALID_REQUEST, 400, "not a JSON-RPC 2.0 message: %s", why);
    return RPC_BROKEN;
}

/* The members of a message, found in one pass, because searching for each would cost more. */
struct members {
    json_t *version, *id, *method, *params, *result, *error;
};

static struct members find_members(const json_t *message)
{
    static const struct {
        const char *name;
        size_t offset;
    } known[] = {
        { "jsonrpc", offsetof(struct members, version) },
        { "id", offsetof(struct members, id) },
        { "method", offsetof(struct members, method) },
        { "params", offsetof(struct members, params) },
        { "result", offsetof(struct members, result) },
        { "error", offsetof(struct members, error) },
    };
    struct members found = { 0 };
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(message), name, value) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (*name == *known[i].name && strcmp(name, known[i].name) == 0)
                *(json_t **)((char *)&found + known[i].offset) = value;
    }
    return found;
}

static enum rpc_kind read_request(struct rpc *rpc, const struct members *members)
{
    json_t *meta;

    if (members->params != NULL && !json_is_object(members->params))
        return broken(rpc, "\"params\" must be an object");
    rpc->params = members->params;
    meta = json_object_get(rpc->params, "_meta");
    rpc->meta = json_is_object(meta) ? meta : NULL;
    rpc->progress_token = rpc_token(json_object_get(rpc_meta(rpc), "progressToken"));
    return members->id != NULL ? RPC_REQUEST : RPC_NOTIFICATION;
}

static enum rpc_kind read_kind(struct rpc *rpc, const json_t *message)
{
    struct members members = find_members(message);
    const char *version = json_string_value(members.version);

    if (!json_is_object(message))
        return broken(rpc, "it must be an object");
    if (members.id != NULL)
        rpc->id = rpc_token(members.id);
    if (version == NULL || strcmp(version, "2.0") != 0)
        return broken(rpc, "\"jsonrpc\" must be \"2.0\"");
    if (members.method == NULL && (members.result != NULL || members.error != NULL)) {
        rpc->response = message;
        return RPC_RESPONSE;
    }
    if (members.id != NULL && rpc->id == NULL)
        return broken(rpc, "\"id\" must be a string of at most 1024 bytes, or an integer");
    if (!json_is_string(members.method))
        return broken(rpc, "\"method\" must be a string");
    rpc->name = json_string_value(members.method);
    return read_request(rpc, &members);
}

void rpc_read(struct rpc *rpc, const json_t *message)
{
    atomic_init(&rpc->call.cancelled, false);
    rpc->progress = -1;
    rpc->kind = read_kind(rpc, message);
    rpc->call.id = rpc->id;
}

void rpc_finish(struct rpc *rpc)
{
    session_release(rpc->session);
    free(rpc->id);
    free(rpc->progress_token);
    free(rpc->tool_sets);
    json_decref(rpc->checked);
    text_finish(&rpc->result);
    json_decref(rpc->error_data);
}

bool rpc_fail(struct rpc *rpc, int code, unsigned http_status, const char *format, ...)
{
    va_list args;

    rpc->error_code = code;
    rpc->http_status = http_status;
    va_start(args, format);
    vsnprintf(rpc->error_message, sizeof rpc->error_message, format, args);
    va_end(args);
    return false;
}

bool rpc_fail_with(struct rpc *rpc, const struct error *error)
{
    switch (error->kind) {
    case ERROR_INTERNAL:
        return rpc_fail(rpc, RPC_INTERNAL, 500, "%s", error->message);
    case ERROR_UPSTREAM:
    case ERROR_TIMEOUT:
    case ERROR_CANCELLED:
    case ERROR_BUSY:
        return rpc_fail(rpc, RPC_INTERNAL, 200, "%s", error->message);
    case ERROR_NONE:
    case ERROR_INVALID:
    case ERROR_UNAUTHENTICATED:
    case ERROR_FORBIDDEN:
    case ERROR_NOT_FOUND:
    case ERROR_CONFLICT:
    case ERROR_UNSUPPORTED:
    case ERROR_INPUT_REQUIRED:
        break;
    }
    return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "%s", error->message);
}

bool rpc_fail_fault(struct rpc *rpc, const char *what, const struct error *error)
{
    log_error("%s: %s: %s", rpc->exchange->id, what, error->message);
    if (error->kind == ERROR_BUSY)
        return rpc_fail(rpc, RPC_REFUSED, 503, "%s", error->message);
    return rpc_fail(rpc, RPC_INTERNAL, 500, "internal error, see request %s", rpc->exchange->id);
}

static void write_error(const struct rpc *rpc, struct text *out)
{
    text_addf(out, "\"error\":{\"code\":%d,\"message\":", rpc->error_code);
    json_add_string(out, rpc->error_message, strlen(rpc->error_message));
    if (rpc->error_data != NULL) {
        text_add(out, ",\"data\":");
        json_add(out, rpc->error_data);
    }
    text_add_char(out, '}');
}

#define ENVELOPE_SIZE 384 /* bytes that most responses need besides the result's own members */
#define INFO_MEMBER "\"io.modelcontextprotocol/serverInfo\":"
#define KIND_MEMBER "\"opsbrain/errorKind\":"

/* Adds the members that precede the result's own. In 2026-07-28, these are the members that every
 * result has and, if the result is cacheable, how long it may be cached. In both eras, the result
 * of a failed tool has the kind of its error. */
static void write_common_members(const struct rpc *rpc, struct text *out)
{
    const char *kind = rpc->error_kind;

    if (rpc->era == ERA_MODERN) {
        text_add(out, "\"resultType\":\"");
        text_add(out, rpc->result_type != NULL ? rpc->result_type : "complete");
        text_add(out, "\",\"_meta\":{" INFO_MEMBER);
        text_add(out, rpc->describes_server ? SERVER_DETAILS : SERVER_INFO);
    } else if (kind != NULL) {
        text_add(out, "\"_meta\":{");
    }
    if (kind != NULL)
        text_addf(out, "%s" KIND_MEMBER "\"%s\"", rpc->era == ERA_MODERN ? "," : "", kind);
    if (rpc->era == ERA_MODERN || kind != NULL)
        text_add_char(out, '}');
    if (rpc->era == ERA_MODERN && rpc->method->cacheable && rpc->result_type == NULL)
        text_addf(out, ",\"ttlMs\":%u,\"cacheScope\":\"private\"", rpc->method->ttl_ms);
    if ((rpc->era == ERA_MODERN || kind != NULL) && rpc->result.length > 0)
        text_add_char(out, ',');
}

void rpc_write(const struct rpc *rpc, struct text *out)
{
    text_reserve(out, rpc->result.length + ENVELOPE_SIZE);
    text_add(out, "{\"jsonrpc\":\"2.0\",");
    if (rpc->id != NULL) {
        text_add(out, "\"id\":");
        text_add(out, rpc->id);
        text_add_char(out, ',');
    }
    if (rpc->error_code != 0) {
        write_error(rpc, out);
    } else {
        text_add(out, "\"result\":{");
        write_common_members(rpc, out);
        text_add_bytes(out, text_string(&rpc->result), rpc->result.length);
        text_add_char(out, '}');
    }
    text_add_char(out, '}');
}

void rpc_write_progress(const struct rpc *rpc, double total, const char *message, struct text *out)
{
    text_addf(out,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
              "\"progressToken\":%s,\"progress\":%.15g",
              rpc->progress_token, rpc->progress);
    if (total > 0)
        text_addf(out, ",\"total\":%.15g", total);
    if (message != NULL && message[0] != '\0') {
        text_add(out, ",\"message\":");
        json_add_string(out, message, strlen(message));
    }
    text_add(out, "}}");
}

bool rpc_is_cancelled(void *context)
{
    struct rpc *rpc = context;

    return atomic_load(&rpc->call.cancelled) || atomic_load(&rpc->server->cancelling)
           || (rpc->era == ERA_MODERN && atomic_load(&rpc->exchange->left))
           || !exchange_may_continue(rpc->exchange);
}

const json_t *rpc_meta(const struct rpc *rpc)
{
    return rpc->meta;
}

#define CLIENT_NAME_SIZE 121
#define CLIENT_VERSION_SIZE 61

void rpc_client_name(const json_t *info, char *out, size_t size)
{
    const char *name = json_get_text(info, "name", "");
    const char *version = json_get_text(info, "version", "");
    size_t length = text_copy(out, size < CLIENT_NAME_SIZE ? size : CLIENT_NAME_SIZE, name);

    if (version[0] == '\0' || length + 1 >= size)
        return;
    out[length++] = '/';
    size -= length;
    text_copy(out + length, size < CLIENT_VERSION_SIZE ? size : CLIENT_VERSION_SIZE, version);
}
