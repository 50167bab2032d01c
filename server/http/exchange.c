/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/exchange.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "server/http/exchange_private.h"
#include "server/http/http.h"

static void finish_work(struct note *note);

/* ---- Creating and freeing ---- */

static void write_id(struct http *http, char out[REQUEST_ID_SIZE])
{
    uint64_t number = atomic_fetch_add_explicit(&http->requests, 1, memory_order_relaxed);
    char *end = stpcpy(out, http->request_prefix);
    int shift = 0;

    while (number >> shift > 15)
        shift += 4;
    for (; shift >= 0; shift -= 4)
        *end++ = "0123456789abcdef"[number >> shift & 15];
    *end = '\0';
}

static void hang_up(struct http_request *request)
{
    char *exchange = (char *)request - offsetof(struct exchange, request_state);

    exchange_hang_up((struct exchange *)(void *)exchange);
}

struct exchange *exchange_create(struct http_loop *loop, struct MHD_Connection *mhd,
                                 const char *verb)
{
    struct exchange *exchange = memory_zeroed(1, sizeof *exchange);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    exchange->note.deliver = finish_work;
    atomic_init(&exchange->references, 1);
    atomic_init(&exchange->left, false);
    exchange->http = loop->http;
    exchange->loop = loop;
    exchange->mhd = mhd;
    exchange->verb = verb;
    exchange->method = exchange->subject = "";
    exchange->started_ns = clock_monotonic_ns();
    exchange->keep_alive.owner = exchange;
    exchange->connection = info->socket_context;
    write_id(loop->http, exchange->id);
    exchange->request_state.id = exchange->id;
    exchange->request_state.hang_up = hang_up;
    exchange->connection->request = &exchange->request_state;
    exchange->next = loop->exchanges;
    if (loop->exchanges != NULL)
        loop->exchanges->previous = exchange;
    loop->exchanges = exchange;
    return exchange;
}

static void release_carried(struct exchange *exchange)
{
    if (exchange->carried.owner != NULL)
        exchange->carried.release(exchange->carried.owner);
    exchange->carried = (struct exchange_carried){ 0 };
}

void exchange_carry_take(struct exchange *exchange, const struct exchange_carried *carried)
{
    release_carried(exchange);
    exchange->carried = *carried;
}

static void drop_request(struct exchange *exchange)
{
    if (exchange->request_finish != NULL)
        exchange->request_finish(exchange->request);
    exchange->request_finish = NULL;
    text_finish(&exchange->body);
}

static void stop_counting(struct exchange *exchange)
{
    if (exchange->counted)
        atomic_fetch_sub(&exchange->http->in_flight, 1);
    exchange->counted = false;
}

/* Frees the request of a long-lived stream (`long_lived`), because thousands of streams can stay
 * open for days. */
void exchange_update_long_lived(struct exchange *exchange)
{
    if (!exchange->long_lived || exchange->working)
        return;
    if (atomic_load(&exchange->loop->draining)) {
        exchange_end_long_lived(exchange);
        return;
    }
    stop_counting(exchange);
    drop_request(exchange);
}

void exchange_release(struct exchange *exchange)
{
    if (atomic_fetch_sub(&exchange->references, 1) > 1)
        return;
    stop_counting(exchange);
    drop_request(exchange);
    for (size_t i = 0; i < exchange->reply.header_count; i++)
        free(exchange->reply.headers[i].value);
    text_finish(&exchange->reply.body);
    free(exchange->authority);
    http_headers_finish(&exchange->headers);
    sse_queue_release(exchange->sse_queue);
    release_carried(exchange);
    free(exchange);
}

/* ---- Waiting ---- */

void exchange_suspend(struct exchange *exchange)
{
    MHD_suspend_connection(exchange->mhd);
    exchange->request_state.suspended = true;
    if (exchange->connection->ended)
        exchange_hang_up(exchange);
}

void exchange_resume(struct exchange *exchange)
{
    if (!exchange->request_state.suspended)
        return;
    exchange->request_state.suspended = false;
    exchange->loop->resumed = true;
    MHD_resume_connection(exchange->mhd);
}

void exchange_abandon(struct exchange *exchange)
{
    atomic_store(&exchange->left, true);
    exchange_resume(exchange);
}

/* An answer that is not a stream is sent even if the client has stopped sending: many clients close
 * their side of the connection after the request. */
void exchange_hang_up(struct exchange *exchange)
{
    if (exchange->connection->gone)
        exchange_abandon(exchange);
    else if (exchange->sse_queue != NULL)
        exchange_probe(exchange);
}

/* Called when the worker is done: on the loop's thread, or after that thread has ended. */
static void finish_work(struct note *note)
{
    struct exchange *exchange = (struct exchange *)note;

    exchange->working = false;
    if (exchange->worked != NULL)
        exchange->worked(exchange);
    exchange_update_long_lived(exchange);
    exchange_resume(exchange);
    exchange_release(exchange);
}

static void run_work(void *context)
{
    struct exchange *exchange = context;

    exchange->work(exchange);
    exchange->http->gate->leave(exchange);
    http_loop_post(exchange->loop, &exchange->note);
}

bool exchange_submit(struct exchange *exchange, struct workers *workers,
                     void (*work)(struct exchange *exchange), struct error *error)
{
    if (!exchange->http->gate->enter(exchange, error))
        return false;
    exchange->work = work;
    exchange->working = true;
    atomic_fetch_add(&exchange->references, 1);
    if (workers_submit(workers, run_work, exchange, error))
        return true;
    exchange->working = false;
    exchange->http->gate->leave(exchange);
    exchange_release(exchange);
    return false;
}

void exchange_submit_or_refuse(struct exchange *exchange, struct workers *workers,
                               void (*work)(struct exchange *exchange))
{
    struct error error;

    if (!exchange_submit(exchange, workers, work, &error))
        exchange_refuse(exchange, exchange->over_limit ? 429 : 503, "%s", error.message);
}

/* A request has no principal if its route is open, if its page needs none, or if it was refused. */
bool exchange_may_continue(const struct exchange *exchange)
{
    return exchange->principal.name[0] == '\0' || exchange->http->gate->may_continue(exchange);
}

/* ---- Answering ---- */

void exchange_reply(struct exchange *exchange, unsigned status, const char *content_type,
                    struct text *body)
{
    struct http_reply *reply = &exchange->reply;

    reply->status = status;
    reply->content_type = content_type;
    text_finish(&reply->body);
    if (body == NULL)
        return;
    reply->body = *body;
    *body = (struct text){ 0 };
}

void exchange_reply_text(struct exchange *exchange, unsigned status, const char *format, ...)
{
    char line[600];
    struct text body = { 0 };
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_add(&body, line);
    text_add_char(&body, '\n');
    exchange_reply(exchange, status, "text/plain; charset=utf-8", &body);
}

void exchange_add_header(struct exchange *exchange, const char *name, const char *value)
{
    struct http_reply *reply = &exchange->reply;

    if (reply->header_count == HTTP_REPLY_HEADERS)
        return;
    reply->headers[reply->header_count].name = name;
    reply->headers[reply->header_count++].value = memory_copy_text(value);
}

#define RETRY_AFTER_S "2"

void exchange_refuse(struct exchange *exchange, unsigned status, const char *format, ...)
{
    struct text body = { 0 };
    char message[480];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (exchange->headers.accepts_html) {
        exchange->http->refuse_browser(exchange, status, message);
        return;
    }
    exchange->http->write_refusal(status, NULL, message, &body);
    exchange_reply(exchange, status, "application/json", &body);
}

int64_t exchange_add_retry_after(struct exchange *exchange, int64_t wait_ms)
{
    int64_t seconds = (wait_ms + 999) / 1000;
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)seconds);
    exchange_add_header(exchange, "Retry-After", text);
    return seconds;
}

void exchange_refuse_fault(struct exchange *exchange, const char *what, const struct error *error)
{
    log_error("%s: %s: %s", exchange->id, what, error->message);
    if (error->kind != ERROR_BUSY) {
        exchange_refuse(exchange, 500, "internal error, see request %s in the server's log",
                        exchange->id);
        return;
    }
    exchange_add_header(exchange, "Retry-After", RETRY_AFTER_S);
    exchange_refuse(exchange, 503, "%s", error->message);
}

enum MHD_Result exchange_queue_response(struct exchange *exchange, struct MHD_Response *response,
                                        unsigned status)
{
    const struct http_reply *reply = &exchange->reply;
    enum MHD_Result result;

    for (size_t i = 0; i < reply->header_count; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    if (reply->closes || atomic_load(&exchange->loop->draining))
        MHD_add_response_header(response, "Connection", "close");
    result = MHD_queue_response(exchange->mhd, status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result exchange_queue_reply(struct exchange *exchange)
{
    struct http_reply *reply = &exchange->reply;
    size_t length = reply->body.length;
    struct MHD_Response *response;

    timeout_clear(&exchange->keep_alive);
    if (reply->status == 0)
        exchange_reply_text(exchange, 500, "no answer, see request %s in the server's log",
                            exchange->id);
    response = length > 0 ? MHD_create_response_from_buffer(length, text_take(&reply->body),
                                                            MHD_RESPMEM_MUST_FREE)
                          : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (reply->content_type != NULL)
        MHD_add_response_header(response, "Content-Type", reply->content_type);
    http_connection_wait(exchange->connection, DEADLINE_SEND);
    return exchange_queue_response(exchange, response, reply->status);
}
