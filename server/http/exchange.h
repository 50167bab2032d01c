/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request and its answer: read, served, answered at once, later by a worker, or as a
 * stream. The request's route decides which. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "base/core/workers.h"
#include "base/net/ip.h"
#include "server/http/http_connection.h"
#include "server/http/http_headers.h"
#include "server/http/http_loop.h"
#include "server/http/http_reply.h"
#include "server/http/sse_queue.h"
#include "server/http/timeout_list.h"
#include "server/http/trace.h"
#include "store/ledger/principals.h"

struct MHD_Connection;
struct route;
struct http;
struct telemetry_row;

#define REQUEST_ID_SIZE 40
/* The object whose events a stream sends, and the callbacks for it; NULL: not called. */
struct exchange_carried {
    void *owner; /* a reference; NULL: nothing */
    void (*release)(void *owner);
    void (*end)(void *owner); /* the server is stopping: sends the closing message */
    void (*received)(void *owner, int64_t sequence); /* a connection received this event */
};

struct exchange {
    struct note note; /* first: notifies the loop that the worker is done */
    atomic_int references;
    struct http *http;
    struct http_loop *loop;
    char id[REQUEST_ID_SIZE]; /* of the log line and of error messages */
    int64_t started_ns;

    /* the request */
    const struct route *route; /* NULL: none */
    void *context;             /* context of the route's set */
    const char *verb;          /* GET, POST, ... */
    char *authority; /* authority of a target that is a whole URI; NULL: the target is a path */
    struct ip_address client; /* the caller's address, from the connection or a trusted proxy */
    char client_text[IP_TEXT_SIZE];
    struct http_headers headers;
    struct text body;
    struct principal principal;
    void *request; /* the route's own data, and how to free it */
    void (*request_finish)(void *request);

    /* the answer */
    struct http_reply reply;
    struct sse_queue *sse_queue; /* events instead of a reply */
    struct exchange_carried carried;
    bool standing;    /* a stream that lasts until one side ends it; not waited for at shutdown */
    int64_t received; /* the newest event that was passed to `carried` */
    atomic_bool left; /* the client disconnected, or is treated as if it had */

    /* the next members are for the log and the metrics */
    const char *method, *subject; /* of tables; "" for none */
    char trace[TRACE_ID_SIZE];    /* the id of the trace it belongs to; "" for none */
    struct telemetry_row *row;

    /* the next members are for the loop's thread only */
    struct http_connection *connection;
    struct http_request in_work;
    struct MHD_Connection *mhd; /* NULL once it is over */
    struct exchange *previous, *next;
    struct timeout keep_alive;
    size_t keep_alive_read; /* bytes that the client had received at the last check */
    unsigned stalls;        /* successive checks at which it had received nothing */
    bool is_probed;         /* its client was probed after it stopped sending */
    size_t body_seen;       /* bytes of the body that were read, kept or not */
    size_t read_limit;      /* the connection is closed if body_seen exceeds this */
    bool counted;           /* it counts among the requests in flight */
    bool working;           /* a worker has it */
    bool has_place;  /* it counts among its principal's calls (server/access/call_limits.h) */
    bool over_limit; /* it was refused because its principal has too many calls */
    void (*work)(struct exchange *exchange);
    void (*worked)(struct exchange *exchange); /* called when it is over; NULL: nothing */
};

void exchange_release(struct exchange *exchange);

/* Whether the caller is still allowed, in case keys changed or expired since the request was
 * admitted. Any thread. */
bool exchange_may_continue(const struct exchange *exchange);

/* Sets the whole answer; `body` (may be NULL) is moved into it. */
void exchange_reply(struct exchange *exchange, unsigned status, const char *content_type,
                    struct text *body);
void exchange_reply_text(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `name` is static, `value` copied. */
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
/* Answers with the events of a queue, which is borrowed; on the loop's thread. */
struct sse_queue *exchange_begin_stream(struct exchange *exchange);
/* Answers with the events of a queue that a worker created; takes over its one reference. For
 * `worked`. */
void exchange_take_queue(struct exchange *exchange, struct sse_queue *sse_queue);
void exchange_wake(void *exchange); /* the callback `wake` for such a queue */
/* Sets the object whose events the stream sends, before anything is sent; `carried` is taken over.
 */
void exchange_carry_take(struct exchange *exchange, const struct exchange_carried *carried);
/* Undoes exchange_begin_stream, before anything was sent. */
void exchange_drop_stream(struct exchange *exchange);
/* Runs work(exchange) on one of the threads; it replies, or ends the stream. BUSY: not called. */
CHECKED bool exchange_submit(struct exchange *exchange, struct workers *workers,
                             void (*work)(struct exchange *exchange), struct error *error);

/* The same, and refuses if that fails: 429 for a principal with too many calls, else 503. */
void exchange_submit_or_refuse(struct exchange *exchange, struct workers *workers,
                               void (*work)(struct exchange *exchange));

/* Sets the header Retry-After, in whole seconds, which it returns. */
int64_t exchange_retry_after(struct exchange *exchange, int64_t wait_ms);
/* Answers with an error, in the form that the server's clients know. */
void exchange_refuse(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for failures of the server itself: a full disk, or too many waiting calls, is reported
 * (503); others are logged, and the client gets the request's id (500). */
void exchange_refuse_fault(struct exchange *exchange, const char *what, const struct error *error);

/* A parameter of the query, or NULL; borrowed from the request. This and the next three: on the
 * loop's thread. */
const char *exchange_query(const struct exchange *exchange, const char *name);
/* Calls `each` for each parameter of the query; its `value` may be NULL. */
void exchange_each_query(const struct exchange *exchange,
                         void (*each)(void *context, const char *name, const char *value),
                         void *context);
/* Whether the client is connected over TLS, as only a trusted proxy can report. */
bool exchange_is_over_tls(const struct exchange *exchange);
/* Calls `each` for each header; values have no NUL. */
void exchange_each_header(const struct exchange *exchange,
                          void (*each)(void *context, const char *name, size_t name_size,
                                       const char *value, size_t value_size),
                          void *context);
