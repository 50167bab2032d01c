/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one user's requests to the endpoint: one exchange (a request and its answer) after the
 * other, on a connection that is kept open for the next one. A transfer passes the events of an
 * exchange to the user's callbacks and does not interpret them. */
#pragma once

#include <sys/queue.h>

#include "base/llm/failure.h"
#include "bench/load/load.h"
#include "bench/load/load_loop.h"
#include "bench/load/request_id.h"

#define TRANSFER_FAILURE_TEXT_SIZE 256

/* Callbacks for the events of an exchange. Times are monotonic nanoseconds. */
struct transfer_listener {
    /* The connection is open, and the first byte is about to be sent. Called again if the server
     * had closed the connection, and libcurl opens a new one by itself. */
    void (*on_send)(void *context, int64_t now_ns);
    /* Called before the first bytes of the body; if the answer has no body, at the answer's end. */
    void (*on_head)(void *context, long status, const char *content_type);
    /* Passes bytes of the body, just after they were read. Returning false ends the exchange. */
    bool (*on_bytes)(void *context, const char *bytes, size_t length, int64_t now_ns);
};

struct transfer_kind;

struct transfer {
    const struct transfer_kind *kind;
    struct load_loop *loop;
    struct connection_reuse *reuse;
    const struct transfer_listener *listener;
    void *context;
    char request_id[REQUEST_ID_LENGTH + 1]; /* the caller writes it before the exchange begins */
    /* The following members describe the connection, and the current exchange or, between
     * exchanges, the latest one. */
    bool is_new;        /* the exchange opened a new connection, or tried to */
    int64_t connect_ns; /* how long connecting took; 0: not connected, or not a new connection */
    int64_t tls_ns;     /* how long the TLS handshake took; 0: none was completed */
    bool went_stale;    /* it reused a connection that the server had closed, and got no answer */
    bool was_unread;    /* it went stale, and the server cannot have read the request */
    int answers;      /* answers received on the open connection; with libcurl, 2 means 2 or more */
    int64_t ended_ns; /* when the latest of these answers ended */
    /* If the exchange has not connected by this time, the user must end it. INT64_MAX: there is no
     * such limit, because it has connected, or because libcurl itself limits the time to
     * connect. */
    int64_t connect_deadline_ns;
    enum failure failure; /* of the exchange itself, whatever its HTTP status */
    char failure_text[TRANSFER_FAILURE_TEXT_SIZE]; /* an error message to show; "": none */
    bool is_queued; /* it is in the loop's queue of ended transfers */
    TAILQ_ENTRY(transfer) link;
};

/* Uses our own client if transfer_plain_can returns true, else libcurl. INTERNAL if there is no
 * memory. All transfers of a loop must be destroyed before the loop. */
CHECKED bool transfer_create(const struct load *load, struct load_loop *loop,
                             const struct transfer_listener *listener, void *context,
                             struct transfer **out, struct error *error);
void transfer_destroy(struct transfer *transfer); /* does nothing for NULL */

/* Begins to POST `prompt`, which must remain valid until transfer_end. Opens a new connection if
 * `is_fresh`, if none is open, or if the open one has carried as many answers as the server
 * allows. */
void transfer_begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
/* Returns the next transfer whose exchange has ended by itself; NULL if there are no more. Each
 * ended exchange is returned once. */
struct transfer *transfer_take_ended(struct load_loop *loop);
/* Must follow every transfer_begin: removes the exchange from the loop, and cuts it off if it has
 * not ended. Afterwards `failure` says what made it fail; NONE: it was complete, or was cut off
 * here. */
void transfer_end(struct transfer *transfer);

/* ---- For the implementations ----------------------------------------------------------------- */

struct transfer_kind {
    void (*begin)(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
    void (*end)(struct transfer *transfer);
    void (*destroy)(struct transfer *transfer);
};

/* Records that an answer has arrived completely and that, as far as is known, the connection stays
 * open. */
void transfer_note_answer(struct transfer *transfer);
/* To be called when the server has closed the open connection. If it did so soon after an answer,
 * and no connection ever carried more answers than this one, records the number of answers on this
 * connection as the server's limit. */
void transfer_note_closed(struct transfer *transfer);
/* Records that the exchange ended by itself. */
void transfer_queue_ended(struct transfer *transfer);

/* Whether our own client can send this load: the load must not require libcurl, and must use plain
 * HTTP/1.1 and addresses that can be tried one after the other. */
bool transfer_plain_can(const struct load *load);
struct transfer *transfer_plain_create(const struct load *load, struct load_loop *loop);

/* Returns the next transfer whose exchange ended by itself in libcurl; NULL if there are no
 * more. */
struct transfer *transfer_curl_take_ended(struct load_loop *loop);
CHECKED bool transfer_curl_create(const struct load *load, struct load_loop *loop,
                                  struct transfer **out, struct error *error);
