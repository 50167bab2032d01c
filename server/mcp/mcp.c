/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/mcp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/access/call_limits.h"
#include "server/http/exchange.h"
#include "server/http/routes.h"
#include "server/mcp/client_request.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/mcp_setup.h"
#include "server/mcp/methods.h"
#include "server/mcp/multi_round.h"
#include "server/mcp/protocol.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"

#define BATCH_LIMIT 64
#define RETRY_AFTER_S "2"

/* A POST request: one message or, only in revision 2025-03-26, a batch of messages. */
struct post {
    json_t *root;
    bool batch;
    size_t count;
    struct rpc rpcs[];
};

static void post_free(void *context)
{
    struct post *post = context;

    for (size_t i = 0; i < post->count; i++) {
        multi_round_free(post->rpcs[i].multi_round);
        rpc_finish(&post->rpcs[i]);
    }
    json_decref(post->root);
    free(post);
}

/* ---- Replies ---- */

/* Replies with JSON or, if the client accepts only events and the status is 200, with a stream of
 * one event. */
static void reply_json(struct exchange *exchange, unsigned status, struct text *json)
{
    struct text event = { 0 };

    if (exchange->headers.accepts_json || status != 200) {
        exchange_reply(exchange, status, "application/json", json);
        return;
    }
    text_add(&event, "event: message\ndata: ");
    text_add_bytes(&event, text_string(json), json->length);
    text_add(&event, "\n\n");
    exchange_reply(exchange, status, "text/event-stream", &event);
    text_finish(json);
}

static void reply_rpc(struct exchange *exchange, const struct rpc *rpc)
{
    struct text json = { 0 };

    rpc_write(rpc, &json);
    reply_json(exchange, rpc->error_code != 0 ? rpc->http_status : 200, &json);
}

void mcp_write_refusal(unsigned status, const char *id, const char *message, struct text *out)
{
    FREE_AUTO char *echoed = id != NULL ? memory_copy_text(id) : NULL;
    struct rpc rpc = { .error_code = status == 500 ? RPC_INTERNAL : RPC_REFUSED, .id = echoed };

    text_copy(rpc.error_message, sizeof rpc.error_message, message);
    rpc_write(&rpc, out);
}

void mcp_refuse(struct exchange *exchange, unsigned http_status, int code, const char *format, ...)
{
    struct rpc rpc = { .error_code = code };
    struct text json = { 0 };
    va_list args;

    va_start(args, format);
    vsnprintf(rpc.error_message, sizeof rpc.error_message, format, args);
    va_end(args);
    rpc_write(&rpc, &json);
    exchange_reply(exchange, http_status, "application/json", &json);
}

/* ---- Running ---- */

/* Agents see the result of a tool call, but rarely an HTTP status, so the error of a tool call is
 * put into its result. */
static void fail_busy(struct rpc *rpc, const struct error *error)
{
    if (rpc->tool != NULL)
        method_tools_write_error(rpc, error);
    else
        rpc_fail(rpc, RPC_REFUSED, 503, "%s", error->message);
}

/* Answers a request that was not begun, because its caller is no longer authorized or the server is
 * stopping: the client can call again with another key, or later. The client might also have
 * disconnected; then nobody reads the answer. */
static void fail_unbegun(struct rpc *rpc)
{
    struct error error;

    error_set(&error, ERROR_BUSY, "nothing was done: %s",
              atomic_load(&rpc->server->cancelling)
                  ? SERVER_STOPPING
                  : "the caller is no longer authorized, perhaps because its API key expired, was "
                    "revoked or has a lower role now");
    fail_busy(rpc, &error);
}

static void run(struct rpc *rpc)
{
    if (rpc->error_code == 0 && !rpc_is_cancelled(rpc))
        rpc->method->run(rpc);
    else if (rpc->error_code == 0 && !atomic_load(&rpc->call.cancelled))
        fail_unbegun(rpc);
    if (atomic_load(&rpc->call.cancelled))
        rpc->silent = true; /* a cancelled request gets no answer */
}

static void reply_batch(struct exchange *exchange, struct post *post)
{
    struct text json = { 0 };

    for (size_t i = 0; i < post->count; i++) {
        const struct rpc *rpc = &post->rpcs[i];

        if (rpc->silent || rpc->kind == RPC_NOTIFICATION || rpc->kind == RPC_RESPONSE)
            continue;
        text_add_char(&json, json.length == 0 ? '[' : ',');
        rpc_write(rpc, &json);
    }
    if (json.length == 0) {
        exchange_reply(exchange, 202, NULL, NULL);
        return;
    }
    text_add_char(&json, ']');
    reply_json(exchange, 200, &json);
}

/* Whether the answer is an error with its own HTTP status, and that status can still be sent
 * because the stream has not begun. If so, this function closes the stream's queue. */
static bool answers_by_status(struct exchange *exchange, const struct rpc *rpc)
{
    return !rpc->silent && rpc->error_code != 0 && rpc->http_status != 200
           && sse_queue_withdraw(exchange->sse_queue);
}

/* If the answer is larger than what the principal may still store, an error is stored in its place,
 * for a client that reconnects. */
static void push_answer(struct stream *stream, const struct rpc *rpc)
{
    struct rpc not_stored = { .id = rpc->id, .era = rpc->era };
    TEXT_AUTO json = { 0 };
    TEXT_AUTO otherwise = { 0 };

    rpc_fail(
        &not_stored, RPC_INTERNAL, 200,
        "the answer was sent once, but not stored, because too much is already stored for you: "
        "call again, or see job_list and audit_list");
    rpc_write(rpc, &json);
    rpc_write(&not_stored, &otherwise);
    stream_push_answer(stream, text_string(&json), json.length, text_string(&otherwise));
}

static void finish_stream(struct exchange *exchange, struct rpc *rpc)
{
    if (answers_by_status(exchange, rpc))
        reply_rpc(exchange, rpc);
    else if (!rpc->silent)
        push_answer(rpc->stream, rpc);
    stream_end(rpc->stream);
    mcp_streams_end(rpc);
}

static void forget_calls(struct post *post)
{
    for (size_t i = 0; i < post->count; i++)
        if (post->rpcs[i].session != NULL)
            session_remove_call(post->rpcs[i].session, &post->rpcs[i].call);
}

/* Runs all messages in the POST, on the thread chosen by place(). */
static void run_post(struct exchange *exchange)
{
    struct post *post = exchange->request;
    struct rpc *first = post->rpcs;

    if (first->stream != NULL && first->session != NULL)
        mcp_streams_keep(first);
    for (size_t i = 0; i < post->count; i++)
        if (post->rpcs[i].method != NULL)
            run(&post->rpcs[i]);
    forget_calls(post);
    if (exchange->long_lived && first->error_code == 0)
        return; /* the stream is the answer */
    if (post->batch)
        reply_batch(exchange, post);
    else if (first->stream != NULL)
        finish_stream(exchange, first);
    else if (first->kind == RPC_NOTIFICATION || first->silent)
        exchange_reply(exchange, 202, NULL, NULL);
    else
        reply_rpc(exchange, first);
}

/* ---- Inline, or on a worker ---- */

/* Sets what the log and the metrics show about the request. */
static void label(struct exchange *exchange, const struct post *post)
{
    const struct rpc *first = post->rpcs;
    struct mcp_server *server = exchange->context;

    if (post->batch) {
        exchange->method = "batch";
        return;
    }
    if (first->method == NULL)
        return;
    exchange->method = first->method->name;
    exchange->row = server->method_rows[first->method - methods];
    if (first->tool == NULL)
        return;
    exchange->subject = first->tool->name;
    exchange->row = mcp_setup_tool_row(server, first->tool);
}

static bool is_slow(const struct post *post)
{
    for (size_t i = 0; i < post->count; i++)
        if (post->rpcs[i].error_code == 0 && post->rpcs[i].placement != PLACE_INLINE)
            return true;
    return false;
}

/* Whether to answer with a stream, which carries progress, log messages and questions, and keeps
 * the connection alive while the client waits. */
static bool wants_stream(const struct exchange *exchange, const struct post *post)
{
    const struct rpc *first = post->rpcs;

    if (!exchange->headers.accepts_events || post->batch)
        return false;
    return first->method->long_lived
           || (first->method == method_find("tools/call", first->era)
               && (first->progress_token != NULL || first->wants_logs
                   || first->placement == PLACE_WAITING));
}

static void release_stream(void *stream)
{
    stream_release(stream);
}

static void end_stream(void *stream)
{
    stream_send_closing_message(stream);
}

static void begin_stream(struct exchange *exchange, struct rpc *rpc)
{
    exchange->long_lived = rpc->method->long_lived;
    rpc->stream = stream_create(exchange_begin_stream(exchange));
    exchange_carry_take(exchange, &(struct exchange_carried){ .owner = rpc->stream,
                                                              .release = release_stream,
                                                              .end = end_stream });
    if (rpc->era == ERA_LEGACY)
        /* the stream can begin now: errors in this era need no HTTP status of their own */
        sse_queue_begin(exchange->sse_queue);
}

static void refuse_busy(struct exchange *exchange, struct post *post, const struct error *error)
{
    struct rpc *first = post->rpcs;

    forget_calls(post);
    exchange_drop_stream(exchange);
    first->stream = NULL;
    log_warning("%s: %s", exchange->id, error->message);
    exchange_add_header(exchange, "Retry-After", RETRY_AFTER_S);
    if (exchange->over_limit)
        rpc_fail(first, RPC_REFUSED, 429, "%s", error->message);
    else if (post->batch)
        rpc_fail(first, RPC_REFUSED, 503, "%s", error->message);
    else
        fail_busy(first, error);
    reply_rpc(exchange, first);
}

static void submit(struct exchange *exchange, struct post *post)
{
    struct mcp_server *server = exchange->context;
    bool waits = post->batch || post->rpcs[0].placement == PLACE_WAITING;
    struct error error;

    for (size_t i = 0; i < post->count; i++)
        if (post->rpcs[i].session != NULL && post->rpcs[i].kind == RPC_REQUEST)
            session_add_call(post->rpcs[i].session, &post->rpcs[i].call);
    if (wants_stream(exchange, post))
        begin_stream(exchange, post->rpcs);
    if (!exchange_submit(exchange, waits ? server->waiting : server->workers, run_post, &error))
        refuse_busy(exchange, post, &error);
}

/* Decides where the message runs. Refuses whatever can be refused before anything is queued. */
static void admit(struct rpc *rpc)
{
    bool good = rpc->era == ERA_MODERN ? mcp_modern_admit(rpc) : mcp_legacy_admit(rpc);

    rpc->placement = PLACE_INLINE; /* for a refusal, and for messages that need no answer */
    trace_id_read(json_get_text(rpc_meta(rpc), "traceparent", NULL), rpc->exchange->trace);
    if (!good || rpc->kind == RPC_RESPONSE || rpc->method == NULL)
        return;
    rpc->placement = rpc->method->placement;
    public_url_of(rpc->exchange, rpc->base_url);
    if (rpc->method->prepare != NULL)
        rpc->method->prepare(rpc);
}

static void handle_responses(const struct post *post)
{
    for (size_t i = 0; i < post->count; i++)
        if (post->rpcs[i].kind == RPC_RESPONSE && post->rpcs[i].error_code == 0)
            client_request_handle_response(&post->rpcs[i]);
}

static void place(struct exchange *exchange, struct post *post)
{
    const struct mcp_server *server = exchange->context;
    struct rpc *first = post->rpcs;

    label(exchange, post);
    handle_responses(post);
    if (!post->batch && first->error_code != 0)
        reply_rpc(exchange, first);
    else if (!post->batch && (first->kind == RPC_RESPONSE || first->method == NULL))
        exchange_reply(exchange, 202, NULL, NULL);
    else if (is_slow(post) || !call_limits_run_inline(server->limits, exchange, run_post))
        submit(exchange, post);
}

/* ---- Reading ---- */

/* A message belongs to the modern era if its params._meta names a protocol version, or if the
 * header MCP-Protocol-Version names 2026-07-28 or a later version. */
static enum era era_of(const struct rpc *rpc, const json_t *message)
{
    const json_t *params = rpc->params != NULL ? rpc->params : json_object_get(message, "params");
    const json_t *meta = rpc->params != NULL ? rpc->meta : json_object_get(params, "_meta");
    const char *header = rpc->exchange->headers.protocol_version;

    if (json_object_get(meta, MCP_META_VERSION) != NULL)
        return ERA_MODERN;
    return header != NULL && strcmp(header, MCP_MODERN_VERSION) >= 0 ? ERA_MODERN : ERA_LEGACY;
}

static struct post *post_create(struct exchange *exchange, json_t *root)
{
    bool batch = json_is_array(root);
    size_t count = batch ? json_array_size(root) : 1;
    struct post *post = memory_zeroed(1, sizeof *post + count * sizeof *post->rpcs);

    post->root = root;
    post->batch = batch;
    post->count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *message = batch ? json_array_get(root, i) : root;

        post->rpcs[i].server = exchange->context;
        post->rpcs[i].exchange = exchange;
        rpc_read(&post->rpcs[i], message);
        post->rpcs[i].era = era_of(&post->rpcs[i], message);
    }
    return post;
}

static bool check_batch(struct exchange *exchange, const struct post *post)
{
    int code = post->rpcs[0].error_code;

    /* the first message was refused for something that the whole batch shares, such as a header */
    if (code == RPC_SESSION_NOT_FOUND || code == RPC_REFUSED) {
        reply_rpc(exchange, &post->rpcs[0]);
        return false;
    }
    for (size_t i = 0; i < post->count; i++) {
        const struct rpc *rpc = &post->rpcs[i];

        if (rpc->era == ERA_MODERN
            || (rpc->version != NULL && strcmp(rpc->version, "2025-03-26") != 0)) {
            mcp_refuse(exchange, 400, RPC_INVALID_REQUEST,
                       "batches exist only in revision 2025-03-26: send one message per request");
            return false;
        }
        if (rpc->method != NULL && strcmp(rpc->method->name, "initialize") == 0) {
            mcp_refuse(exchange, 400, RPC_INVALID_REQUEST,
                       "initialize must not be part of a batch");
            return false;
        }
    }
    return true;
}

static bool check_media(struct exchange *exchange)
{
    struct http_headers *headers = &exchange->headers;

    if (!http_media_type_is(headers->content_type, "application/json")) {
        mcp_refuse(exchange, 415, RPC_REFUSED, "Content-Type must be application/json");
        return false;
    }
    if (!headers->accepts_json && !headers->accepts_events && headers->has_accept) {
        mcp_refuse(exchange, 406, RPC_REFUSED,
                   "Accept must name application/json or text/event-stream, preferably both");
        return false;
    }
    headers->accepts_json |= !headers->accepts_events;
    return true;
}

static bool check_shape(struct exchange *exchange, const json_t *root)
{
    if (!json_is_array(root))
        return true;
    if (json_array_size(root) > 0 && json_array_size(root) <= BATCH_LIMIT)
        return true;
    mcp_refuse(exchange, 400, RPC_INVALID_REQUEST, "a batch must have 1 to %d messages",
               BATCH_LIMIT);
    return false;
}

static void serve_post(struct exchange *exchange)
{
    struct post *post;
    struct error error;
    json_t *root;

    if (!check_media(exchange))
        return;
    if (!json_parse(text_string(&exchange->body), exchange->body.length, &root, &error)) {
        mcp_refuse(exchange, 400, RPC_PARSE_ERROR, "%s", error.message);
        return;
    }
    if (!check_shape(exchange, root)) {
        json_decref(root);
        return;
    }
    post = post_create(exchange, root);
    exchange->request = post;
    exchange->request_finish = post_free;
    for (size_t i = 0; i < post->count; i++)
        admit(&post->rpcs[i]);
    if (!post->batch || check_batch(exchange, post))
        place(exchange, post);
}

const struct route mcp_routes[] = {
    { "POST", "/mcp", .limited = true, .role = ROLE_VIEWER, .serve = serve_post },
    { "GET", "/mcp", .limited = true, .role = ROLE_VIEWER, .serve = mcp_get },
    { "DELETE", "/mcp", .limited = true, .role = ROLE_VIEWER, .serve = mcp_delete },
    { 0 },
};
