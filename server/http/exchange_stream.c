/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are streams. */

#include <sys/socket.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "server/http/exchange.h"
#include "server/http/exchange_private.h"
#include "server/http/http.h"

/* A stream is cut if its client reads nothing for this many successive keep-alive periods. */
#define STALLS_LIMIT 4
#define STREAM_BLOCK 1024

/* Schedules the next call of exchange_keep_alive, which puts a comment into the stream and checks
 * whether the client still reads. */
static void set_keep_alive(struct exchange *exchange)
{
    timeout_set(&exchange->loop->deadlines[0][DEADLINE_KEEP_ALIVE], &exchange->keep_alive,
                clock_monotonic_ns());
}

/* A stream can outlast the key that it was opened with, so the loop must know when the key
 * expires. */
static void watch_expiry(struct exchange *exchange)
{
    int64_t at_ms = exchange->principal.key_expires_ms, *first_ms = &exchange->loop->key_expiry_ms;

    if (exchange->sse_queue != NULL && at_ms != 0 && (*first_ms == 0 || at_ms < *first_ms))
        *first_ms = at_ms;
}

/* Schedules the next comment soon: if the client has disconnected, writing to it triggers a reset,
 * which reveals the disconnection. */
void exchange_probe(struct exchange *exchange)
{
    if (exchange->is_probed)
        return;
    exchange->is_probed = true;
    timeout_set(&exchange->loop->deadlines[0][DEADLINE_PROBE], &exchange->keep_alive,
                clock_monotonic_ns());
}

/* Reports the newest event that was passed to the connection: a client that reconnects without
 * naming an event gets the events after that one. */
static void report_received(struct exchange *exchange)
{
    int64_t received = sse_queue_sequence(exchange->sse_queue);

    if (exchange->carried.received == NULL || received == exchange->received)
        return;
    exchange->received = received;
    exchange->carried.received(exchange->carried.owner, received);
}

/* Makes the next write fail, so that libmicrohttpd closes the connection. If read_stream returned
 * an error instead, libmicrohttpd would close the connection only after its timeout, and none is
 * set. */
static ssize_t cut(const struct exchange *exchange)
{
    shutdown(exchange->connection->fd, SHUT_RDWR);
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static ssize_t read_stream(void *context, uint64_t position, char *out, size_t size)
{
    struct exchange *exchange = context;
    size_t length = 0;

    (void)position;
    if (atomic_load(&exchange->left))
        return cut(exchange);
    switch (sse_queue_read(exchange->sse_queue, out, size, &length)) {
    case SSE_QUEUE_READ:
        report_received(exchange);
        return (ssize_t)length;
    case SSE_QUEUE_EMPTY:
        exchange_suspend(exchange);
        return 0;
    case SSE_QUEUE_ENDED:
        return MHD_CONTENT_READER_END_OF_STREAM;
    case SSE_QUEUE_CUT:
        break;
    }
    log_warning("%s: stream cut, the client reads too slowly", exchange->id);
    return cut(exchange);
}

void exchange_wake(void *exchange)
{
    exchange_resume(exchange);
}

struct sse_queue *exchange_begin_stream(struct exchange *exchange)
{
    exchange->sse_queue = sse_queue_create(exchange->loop, exchange_wake, exchange);
    set_keep_alive(exchange);
    watch_expiry(exchange);
    return exchange->sse_queue;
}

void exchange_take_queue(struct exchange *exchange, struct sse_queue *sse_queue)
{
    exchange->sse_queue = sse_queue;
    if (exchange->mhd == NULL) {
        sse_queue_close(sse_queue); /* the client has disconnected */
        return;
    }
    set_keep_alive(exchange);
    watch_expiry(exchange);
}

void exchange_drop_stream(struct exchange *exchange)
{
    timeout_clear(&exchange->keep_alive);
    if (exchange->sse_queue != NULL)
        sse_queue_close(exchange->sse_queue);
    sse_queue_release(exchange->sse_queue);
    exchange_carry_take(exchange, &(struct exchange_carried){ 0 });
    exchange->sse_queue = NULL;
    exchange->long_lived = false;
}

enum MHD_Result exchange_queue_stream(struct exchange *exchange)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, exchange, NULL);

    exchange->reply.status = 200;
    MHD_add_response_header(response, "Content-Type", "text/event-stream");
    MHD_add_response_header(response, "Cache-Control", "no-cache");
    MHD_add_response_header(response, "X-Accel-Buffering", "no");
    atomic_fetch_add(&exchange->http->open_streams, 1);
    return exchange_queue_response(exchange, response, 200);
}

void exchange_end_long_lived(struct exchange *exchange)
{
    if (!exchange->long_lived || exchange->working)
        return;
    if (exchange->carried.end != NULL)
        exchange->carried.end(exchange->carried.owner);
    else if (exchange->sse_queue != NULL)
        sse_queue_end(exchange->sse_queue);
}

static void cut_stalled(struct exchange *exchange)
{
    log_warning("%s: stream cut, the client reads nothing", exchange->id);
    shutdown(exchange->connection->fd, SHUT_RDWR);
}

void exchange_check_key(struct exchange *exchange)
{
    if (exchange_may_continue(exchange)) {
        watch_expiry(exchange);
        return;
    }
    log_warning("%s: closing, the caller is no longer authorized: it has no valid key, its role is "
                "lower now, or the keys cannot be read",
                exchange->id);
    shutdown(exchange->connection->fd, SHUT_RDWR);
}

void exchange_keep_alive(struct exchange *exchange)
{
    size_t read = sse_queue_bytes_read(exchange->sse_queue);

    sse_queue_put_comment(exchange->sse_queue);
    if (read == exchange->keep_alive_read && ++exchange->stalls == STALLS_LIMIT)
        cut_stalled(exchange);
    if (read != exchange->keep_alive_read)
        exchange->stalls = 0;
    exchange->keep_alive_read = read;
    set_keep_alive(exchange);
}
