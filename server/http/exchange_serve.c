/* SPDX-License-Identifier: Apache-2.0 */
/* Two functions that libmicrohttpd calls for each request: exchange_serve until the answer begins,
 * and exchange_completed when the request is over. */

#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "server/http/exchange.h"
#include "server/http/exchange_private.h"
#include "server/http/forwarded.h"
#include "server/http/http.h"
#include "server/http/routes.h"
#include "server/telemetry/telemetry.h"

/* How many bytes of a refused body are read and dropped, so that a client that sends the whole body
 * before it reads the answer still learns the reason. A file from an admitted sender has a higher
 * limit, which is harmless because few callers are allowed to send files. */
#define DISCARD_LIMIT ((size_t)8 << 20)
#define DISCARD_FILE_LIMIT ((size_t)256 << 20)

static size_t body_limit(const struct exchange *exchange)
{
    const struct route *route = exchange->route;

    return route != NULL && route->body_limit > 0
               ? route->body_limit
               : (size_t)exchange->http->settings->body_limit_bytes;
}

static bool accepts_file(const struct exchange *exchange)
{
    return exchange->route != NULL && exchange->route->take != NULL;
}

/* If the request is already refused because of its headers, less of its body is read. */
static size_t read_limit(const struct exchange *exchange)
{
    if (exchange->reply.status != 0)
        return DISCARD_LIMIT;
    return accepts_file(exchange) ? DISCARD_FILE_LIMIT : body_limit(exchange) + DISCARD_LIMIT;
}

static void refuse_length(struct exchange *exchange)
{
    bool is_setting = exchange->route == NULL || exchange->route->body_limit == 0;

    exchange_refuse(exchange, 413, "the request body is longer than %zu bytes%s",
                    body_limit(exchange), is_setting ? " (setting body_limit_bytes)" : "");
}

/* Checks the length of the body that the headers state. If they state none, only receive_body
 * checks it, as the body arrives. *readable is false if the body is too long even to be read and
 * dropped. */
static void check_length(struct exchange *exchange, bool *readable)
{
    const char *stated = exchange->headers.content_length;
    int64_t length;

    *readable = true;
    exchange->read_limit = read_limit(exchange);
    if (stated == NULL || !text_to_integer(stated, 0, INT64_MAX, &length))
        return;
    if (length > (int64_t)body_limit(exchange) && exchange->reply.status == 0)
        refuse_length(exchange);
    *readable = exchange->reply.status == 0 || length <= (int64_t)exchange->read_limit;
    if (!*readable)
        log_warning("%s: closing, a body of %lld bytes is too long", exchange->id,
                    (long long)length);
}

/* Called only if libmicrohttpd received the request without our recv() (http_reader.c): the fault
 * is in this build, not in the request. */
static void refuse_unguarded(struct exchange *exchange)
{
    log_error("%s: the request reached libmicrohttpd without passing the request guard",
              exchange->id);
    exchange_refuse(exchange, 500, "internal error, see request %s", exchange->id);
    exchange->reply.closes = true;
}

/* Answers without waiting for the rest of the body, so that a client that is still sending it can
 * read the reason. */
static enum MHD_Result refuse_early(struct exchange *exchange)
{
    struct http_connection *connection = exchange->connection;

    if (http_connection_has_whole_request(connection) || exchange->headers.expect != NULL)
        return exchange_queue_reply(exchange);
    http_connection_wait(connection, DEADLINE_BODY);
    http_connection_refuse(connection, &exchange->reply);
    return MHD_YES;
}

static void find_client(struct exchange *exchange)
{
    const struct http_connection *connection = exchange->connection;

    exchange->client = connection->address;
    if (connection->is_proxy) {
        forwarded_find(exchange->mhd, &exchange->http->trusted_proxies, &exchange->client);
        ip_format(&exchange->client, exchange->client_text);
    } else { /* already formatted, once for all requests on the connection */
        memcpy(exchange->client_text, connection->address_text, sizeof exchange->client_text);
    }
}

static enum MHD_Result begin(struct http_loop *loop, struct MHD_Connection *mhd, const char *target,
                             const char *verb, const char *version, void **slot)
{
    struct exchange *exchange = exchange_create(loop, mhd, verb);
    bool readable;

    *slot = exchange;
    http_headers_read(mhd, version, &exchange->headers);
    find_client(exchange);
    trace_id_read(exchange->headers.traceparent, exchange->trace);
    if (http_connection_is_guarded(exchange->connection))
        routes_admit(exchange, target);
    else
        refuse_unguarded(exchange);
    check_length(exchange, &readable);
    if (exchange->reply.status != 0 && (!readable || exchange->headers.expect != NULL))
        exchange->reply.closes = true;
    if (exchange->reply.closes)
        return refuse_early(exchange);
    http_connection_wait(exchange->connection, DEADLINE_BODY);
    return MHD_YES;
}

/* Each MiB of a file is allowed as much time as the whole body of any other request. */
static void extend_deadline(struct exchange *exchange, size_t more)
{
    if (exchange->body_seen >> 20 == (exchange->body_seen - more) >> 20)
        return;
    http_connection_wait(exchange->connection, DEADLINE_BODY);
}

static void keep_body(struct exchange *exchange, const char *bytes, size_t size)
{
    if (exchange->route->take == NULL) {
        text_add_bytes(&exchange->body, bytes, size);
        return;
    }
    extend_deadline(exchange, size);
    exchange->route->take(exchange, bytes, size);
}

/* Receives a piece of the body. A refused body is read to its end, so that the connection can be
 * reused; but if it is longer than read_limit, the connection is closed. */
static void receive_body(struct exchange *exchange, const char *bytes, size_t size)
{
    exchange->body_seen += size;
    if (exchange->reply.status == 0 && exchange->body_seen > body_limit(exchange))
        refuse_length(exchange);
    if (exchange->reply.status == 0) {
        keep_body(exchange, bytes, size);
    } else if (exchange->body_seen > exchange->read_limit) {
        log_warning("%s: closing, the body has more than %zu bytes", exchange->id,
                    exchange->read_limit);
        http_connection_refuse(exchange->connection, &exchange->reply);
    }
}

static bool may_serve(struct exchange *exchange)
{
    return !exchange->route->limited || exchange->http->gate->check_rate(exchange);
}

static void dispatch(struct exchange *exchange)
{
    timeout_clear(&exchange->connection->deadline);
    exchange->request_state.dispatched = exchange->counted = true;
    atomic_fetch_add(&exchange->http->in_flight, 1);
    if (exchange->reply.status == 0 && may_serve(exchange))
        exchange->route->serve(exchange);
    exchange_update_long_lived(exchange);
}

/* libmicrohttpd prescribes the parameters. NOLINTNEXTLINE(readability-function-size) */
enum MHD_Result exchange_serve(void *loop, struct MHD_Connection *mhd, const char *target,
                               const char *verb, const char *version, const char *upload,
                               size_t *upload_size, void **slot)
{
    struct exchange *exchange = *slot;

    if (exchange == NULL)
        return begin(loop, mhd, target, verb, version, slot);
    if (*upload_size > 0) {
        if (!exchange->connection->refused)
            receive_body(exchange, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (!exchange->request_state.dispatched)
        dispatch(exchange);
    if (atomic_load(&exchange->left))
        return MHD_NO;
    if (exchange->sse_queue != NULL && sse_queue_is_begun(exchange->sse_queue))
        return exchange_queue_stream(exchange);
    if (!exchange->working)
        return exchange_queue_reply(exchange);
    exchange_suspend(exchange);
    return MHD_YES;
}

static void add_word(struct text *line, const char *word, const char *otherwise)
{
    text_add(line, word != NULL && word[0] != '\0' ? word : otherwise);
    text_add_char(line, ' ');
}

/* Builds the line piece by piece: formatting it with printf would take as long as the rest of the
 * request's bookkeeping. */
static void write_log(const struct exchange *exchange, unsigned status, int64_t duration_ns)
{
    struct log_lines *lines = &exchange->loop->log;
    struct text *line = &lines->text;
    int64_t tenths_ms = (duration_ns + 50000) / 100000;

    if (exchange->route != NULL && exchange->route->quiet)
        return;
    log_lines_begin(lines);
    add_word(line, exchange->verb, "-");
    add_word(line, exchange->route != NULL ? exchange->route->path : NULL, "?");
    add_word(line, exchange->method, "-");
    add_word(line, exchange->subject, "-");
    add_word(line, exchange->principal.name, "-");
    text_add_integer(line, status);
    text_add_char(line, ' ');
    text_add_integer(line, tenths_ms / 10);
    text_add_char(line, '.');
    text_add_integer(line, tenths_ms % 10);
    text_add(line, " ms ");
    text_add(line, exchange->id);
    text_add(line, " from ");
    text_add(line, exchange->client_text);
    if (exchange->trace[0] != '\0') {
        text_add(line, " trace ");
        text_add(line, exchange->trace);
    }
    log_lines_end(lines);
}

/* The status that is recorded if the connection ended before the answer was complete. It is not an
 * official HTTP status, but other servers also log it when a client disconnects. */
#define CLIENT_LEFT 499

static void record(struct exchange *exchange, enum MHD_RequestTerminationCode code)
{
    int64_t duration_ns = clock_monotonic_ns() - exchange->started_ns;
    bool complete = code == MHD_REQUEST_TERMINATED_COMPLETED_OK || exchange->long_lived
                    || exchange->connection->refused;
    unsigned status = complete ? exchange->reply.status : CLIENT_LEFT;

    if (exchange->row != NULL)
        telemetry_record(exchange->row, status, exchange->long_lived ? -1 : duration_ns);
    if (exchange->http->settings->log_requests)
        write_log(exchange, status, duration_ns);
}

static void unlink_from_loop(struct exchange *exchange)
{
    struct http_loop *loop = exchange->loop;

    if (exchange->previous != NULL)
        exchange->previous->next = exchange->next;
    else
        loop->exchanges = exchange->next;
    if (exchange->next != NULL)
        exchange->next->previous = exchange->previous;
}

void exchange_completed(void *loop, struct MHD_Connection *mhd, void **slot,
                        enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *slot;

    (void)loop;
    (void)mhd;
    if (exchange == NULL)
        return;
    *slot = NULL;
    record(exchange, code);
    atomic_store(&exchange->left, true);
    if (exchange->sse_queue != NULL)
        sse_queue_close(exchange->sse_queue);
    if (exchange->sse_queue != NULL && exchange->reply.status == 200)
        atomic_fetch_sub(&exchange->http->open_streams, 1);
    timeout_clear(&exchange->keep_alive);
    http_connection_end_request(exchange->connection);
    exchange->connection = NULL;
    exchange->mhd = NULL;
    unlink_from_loop(exchange);
    exchange_release(exchange);
}
