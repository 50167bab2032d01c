/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request and its answer. The request's route decides whether it is answered at once,
 * later by a worker, or with a stream of events. */
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
/* The object whose events a stream sends, and the callbacks for it. */
struct exchange_carried {
    void *owner;                  /* a reference to the object; NULL: there is no object */
    void (*release)(void *owner); /* drops the reference */
    /* Called for a long-lived stream when the server stops: sends the closing message, if there is
     * one, and ends the stream. NULL: the stream ends without a closing message. */
    void (*end)(void *owner);
    /* Called after events were passed to the connection; `sequence` is the number of the newest.
     * NULL: not called. */
    void (*received)(void *owner, int64_t sequence);
};

struct exchange {
    /* notifies the loop that the worker is done; the first member, so that a note can be cast to
     * its exchange */
    struct note note;
    atomic_int references;
    struct http *http;
    struct http_loop *loop;
    char id[REQUEST_ID_SIZE]; /* for log lines and error messages */
    int64_t started_ns;

    /* the request */
    const struct route *route; /* NULL: no route matches */
    void *context;             /* the context of the route's set */
    const char *verb;          /* GET, POST, ... */
    /* the target's host and port, which replace the Host header; NULL: it has none */
    char *authority;
    struct ip_address client; /* the caller's address, from the connection or a trusted proxy */
    char client_text[IP_TEXT_SIZE];
    struct http_headers headers;
    struct text body;
    struct principal principal;
    void *request;                         /* the route's own data */
    void (*request_finish)(void *request); /* frees `request`; NULL: not called */

    /* the answer */
    struct http_reply reply;
    /* once it has begun (sse_queue_begin), its events are sent instead of `reply`; can be NULL */
    struct sse_queue *sse_queue;
    struct exchange_carried carried;
    /* the answer is a long-lived stream: it lasts until one side ends it or the server stops */
    bool long_lived;
    int64_t received; /* the event number that was last passed to carried.received; 0: none yet */
    /* the client disconnected, or is treated as if it had; or the request is over */
    atomic_bool left;

    /* the next members are for the log and the metrics */
    const char *method;        /* the MCP method, or "batch"; "" for none; static */
    const char *subject;       /* the name of the tool; "" for none; static */
    char trace[TRACE_ID_SIZE]; /* the id of the trace that the request belongs to; "" for none */
    struct telemetry_row *row;

    /* the next members are for the loop's thread only */
    struct http_connection *connection;
    struct http_request request_state; /* what the connection knows about this exchange */
    struct MHD_Connection *mhd;        /* NULL once the request is over */
    struct exchange *previous, *next;
    struct timeout keep_alive;
    size_t keep_alive_read; /* bytes that had been read from the queue at the last check */
    unsigned stalls;        /* how many checks in a row found that no more had been read */
    bool is_probed;         /* exchange_probe was called: the client has stopped sending */
    size_t body_seen;       /* bytes of the body that were read, kept or not */
    size_t read_limit;      /* in bytes; a longer body is refused, and the connection closed */
    bool counted;           /* it is counted as a request in flight */
    bool working;           /* its work was submitted, and is not yet known to be done */
    /* the request is counted among its principal's calls (server/access/call_limits.h), until the
     * worker is done or exchange_submit fails */
    bool has_place;
    bool over_limit; /* the request was refused because its principal has too many calls */
    void (*work)(struct exchange *exchange);   /* called by a worker */
    void (*worked)(struct exchange *exchange); /* called after `work`; NULL: not called */
};

/* Drops a reference; the last one frees the exchange. */
void exchange_release(struct exchange *exchange);

/* Whether the caller is still authorized: keys may have changed or expired since the request was
 * admitted. Can be called on any thread. */
bool exchange_may_continue(const struct exchange *exchange);

/* Sets the status, type and body of the answer; `body` (can be NULL) is moved into it. */
void exchange_reply(struct exchange *exchange, unsigned status, const char *content_type,
                    struct text *body);
void exchange_reply_text(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `name` must be static; `value` is copied. Does nothing if there are already HTTP_REPLY_HEADERS
 * headers. */
void exchange_add_header(struct exchange *exchange, const char *name, const char *value);
/* Creates the exchange's queue, and returns it, borrowed. Once the queue has begun
 * (sse_queue_begin), its events are the answer. Call it on the loop's thread. */
struct sse_queue *exchange_begin_stream(struct exchange *exchange);
/* The same, but with a queue that a worker created; takes over the worker's reference. Call it in
 * `worked`. */
void exchange_take_queue(struct exchange *exchange, struct sse_queue *sse_queue);
void exchange_wake(void *exchange); /* the `wake` callback for a worker's queue */
/* Sets the object whose events the stream sends, and takes over the reference to it. Call it before
 * anything is sent. */
void exchange_carry_take(struct exchange *exchange, const struct exchange_carried *carried);
/* Undoes exchange_begin_stream and exchange_carry_take, and clears `long_lived`. Call it before
 * anything is sent. */
void exchange_drop_stream(struct exchange *exchange);
/* Calls `work` on a thread of `workers`; `work` must reply, unless the answer is a stream. BUSY:
 * `work` will not be called. */
CHECKED bool exchange_submit(struct exchange *exchange, struct workers *workers,
                             void (*work)(struct exchange *exchange), struct error *error);

/* The same, but if that fails, refuses the request: with 429 if the principal has too many calls,
 * otherwise with 503. */
void exchange_submit_or_refuse(struct exchange *exchange, struct workers *workers,
                               void (*work)(struct exchange *exchange));

/* Adds the header Retry-After with `wait_ms`, rounded up to whole seconds. Returns the seconds. */
int64_t exchange_add_retry_after(struct exchange *exchange, int64_t wait_ms);
/* Answers with an error: a browser gets a page, any other client gets what http_write_refusal
 * (http.h) writes. */
void exchange_refuse(struct exchange *exchange, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for a failure of the server itself, which is also logged; `what` says what failed. If
 * `error` is BUSY, such as a full disk or too many waiting calls, the client gets the error message
 * (503); otherwise it gets only the request's id (500). */
void exchange_refuse_fault(struct exchange *exchange, const char *what, const struct error *error);

/* The value of a query parameter, borrowed from the request; NULL: the parameter is absent or has
 * no value. Call this function and the next three on the loop's thread. */
const char *exchange_query(const struct exchange *exchange, const char *name);
/* Calls `each` for each query parameter. `value` is NULL if the parameter has no value. */
void exchange_each_query(const struct exchange *exchange,
                         void (*each)(void *context, const char *name, const char *value),
                         void *context);
/* Whether the request came from a trusted proxy that says the client reached it over TLS. */
bool exchange_is_over_tls(const struct exchange *exchange);
/* Calls `each` for each header; no value contains a NUL. */
void exchange_each_header(const struct exchange *exchange,
                          void (*each)(void *context, const char *name, size_t name_size,
                                       const char *value, size_t value_size),
                          void *context);
