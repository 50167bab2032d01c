/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request and its answer: read, served, answered at once, later by a worker, or as a
 * stream. The request's route decides which. */
#pragma once

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "base/core/workers.h"
#include "base/net/ip.h"
#include "server/http/http_headers.h"
#include "server/http/http_loop.h"
#include "server/http/timeout_list.h"
#include "server/http/trace.h"
#include "server/streams/sse_queue.h"
#include "server/streams/stream.h"
#include "store/ledger/principals.h"

struct http_connection;
struct route;
struct server;
struct session;
struct telemetry_row;

#define REQUEST_ID_SIZE 40
#define REPLY_HEADERS 10

struct reply {
    unsigned status; /* 0: none yet */
    const char *content_type;
    struct text body;
    struct {
        const char *name;
        char *value;
    } headers[REPLY_HEADERS];
    size_t header_count;
    bool closes; /* the connection, after the answer */
};

struct exchange {
    struct note note; /* first: tells the loop that the worker is done */
    atomic_int references;
    struct server *server;
    struct http_loop *loop;
    char id[REQUEST_ID_SIZE]; /* of the log line and of error messages */
    int64_t started_ns;

    /* the request */
    const struct route *route; /* NULL: none */
    const char *verb;          /* GET, POST, ... */
    char *authority;           /* of a target that is a whole URI; NULL: a path */
    struct ip_address client;  /* the caller, by the connection or by a trusted proxy */
    char client_text[IP_TEXT_SIZE];
    struct http_headers headers;
    struct text body;
    struct principal principal;
    void *request; /* what the route made of it, and how to free it */
    void (*request_finish)(void *request);

    /* the answer */
    struct reply reply;
    struct sse_queue *sse_queue; /* instead of a reply: events */
    struct stream *stream;       /* what goes out there; NULL: others see to it */
    bool standing; /* a stream that lasts until one side ends it; not waited for at shutdown */
    struct session *session; /* whose standing stream it carries, a reference; NULL: none */
    int64_t heard;           /* of that stream: the newest event that was noted as taken */
    atomic_bool left;        /* the client is gone */

    /* for the log and the metrics */
    const char *method, *subject; /* of tables; "" for none */
    char trace[TRACE_ID_SIZE];    /* the id of the trace it belongs to; "" for none */
    struct telemetry_row *row;

    /* the loop thread's */
    struct http_connection *connection;
    struct MHD_Connection *mhd; /* NULL once it is over */
    struct exchange *previous, *next;
    struct timeout keep_alive;
    size_t keep_alive_read;       /* bytes the client had taken at the last look */
    unsigned stalls;              /* looks at which it had taken nothing */
    bool is_probed;               /* since its client sends no more */
    size_t body_seen, read_limit; /* of it, kept or not; beyond that the connection is closed */
    bool dispatched, counted, working, suspended; /* counted: among those in flight */
    bool has_place, over_limit; /* among its principal's calls; see call_limits.h */
    void (*work)(struct exchange *exchange);
    void (*worked)(struct exchange *exchange); /* what is to be done after it; NULL: nothing */
};

void exchange_release(struct exchange *exchange);

/* The answer, whole; `body` (may be NULL) is emptied into it. */
void exchange_reply(struct exchange *exchange, unsigned status, const char *content_type,
                    struct text *body);
void exchange_reply_text(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `name` is static, `value` copied. */
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
/* Answers with events; on the loop's thread. Borrowed. */
struct sse_queue *exchange_begin_outlet(struct exchange *exchange);
/* The same with a stream of its own. */
struct stream *exchange_begin_stream(struct exchange *exchange);
/* An outlet that a worker made, with one reference, which is taken: for `worked`. */
void exchange_take_outlet(struct exchange *exchange, struct sse_queue *sse_queue);
void exchange_wake(void *exchange); /* what such an outlet calls */
/* The exchange carries the session's standing stream, for as long as the client likes. */
void exchange_stand(struct exchange *exchange, struct session *session);
/* Takes exchange_begin_stream back, before anything was sent. */
void exchange_drop_stream(struct exchange *exchange);
/* Runs work(exchange) on one of the threads; it replies, or ends the stream. BUSY: not called. */
CHECKED bool exchange_submit(struct exchange *exchange, struct workers *workers,
                             void (*work)(struct exchange *exchange), struct error *error);

/* For http_loop.c: libmicrohttpd's callbacks (their context is the loop), and the loop's events. */
enum MHD_Result exchange_serve(void *loop, struct MHD_Connection *mhd, const char *target,
                               const char *verb, const char *version, const char *upload,
                               size_t *upload_size, void **slot);
void exchange_completed(void *loop, struct MHD_Connection *mhd, void **slot,
                        enum MHD_RequestTerminationCode code);
void exchange_keep_alive(struct exchange *exchange);
void exchange_abandon(struct exchange *exchange); /* the client left, or as if it had */
/* The client sends no more, or left, while the exchange waits. */
void exchange_hang_up(struct exchange *exchange);
/* Keys changed, or one expired: ends the streams of callers that are no longer allowed. */
void exchange_check_key(struct exchange *exchange);

/* For exchange_*.c, on the loop's thread. */
struct exchange *exchange_create(struct http_loop *loop, struct MHD_Connection *mhd,
                                 const char *verb);
/* Finds out soon whether a client that sends no more still reads its stream. */
void exchange_probe(struct exchange *exchange);
/* One that stands is not waited for, and needs its request no more. */
void exchange_settle(struct exchange *exchange);
void exchange_suspend(struct exchange *exchange);
void exchange_resume(struct exchange *exchange);
enum MHD_Result exchange_queue_reply(struct exchange *exchange);
enum MHD_Result exchange_queue_stream(struct exchange *exchange);
enum MHD_Result exchange_queue_take(struct exchange *exchange, struct MHD_Response *response,
                                    unsigned status);
