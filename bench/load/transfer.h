/* SPDX-License-Identifier: Apache-2.0 */
/* One user's transfers to the endpoint: one exchange after the other, on a connection that is kept
 * open for the next. It reports what happens to the user's callbacks and does not interpret it. */
#pragma once

#include <sys/queue.h>

#include "base/llm/failure.h"
#include "bench/load/load.h"
#include "bench/load/load_loop.h"
#include "bench/load/request_id.h"

#define TRANSFER_FAILURE_TEXT_SIZE 256

/* Callbacks for the events of an exchange. Times are monotonic nanoseconds. */
struct transfer_listener {
    /* The connection is there, and the first byte is about to be sent. Called a second time if the
     * server had closed the open connection that the exchange used, and it had to open another. */
    void (*on_send)(void *context, int64_t now_ns);
    /* Before the first bytes of the body, or at the end if there is none. */
    void (*on_head)(void *context, long status, const char *content_type);
    /* Bytes of the body, just after they were read; false ends the exchange. */
    bool (*on_bytes)(void *context, const char *bytes, size_t length, int64_t now_ns);
};

struct transfer_kind;

struct transfer {
    const struct transfer_kind *kind;
    struct load_loop *loop;
    struct connection_reuse *reuse;
    const struct transfer_listener *listener;
    void *context;
    char request_id[REQUEST_ID_DIGITS + 1]; /* the caller writes it before the exchange begins */
    /* The next members describe the current exchange, or the latest one that ended. */
    bool is_new;                /* it opened a connection */
    int64_t connect_ns, tls_ns; /* how long connecting and TLS took; 0: no connection was opened */
    bool went_stale;  /* it used an open connection that the server had closed: no answer came */
    bool was_unread;  /* it went stale, and the server cannot have read the request */
    int answers;      /* answers received on the open connection */
    int64_t ended_ns; /* when the latest of these answers ended */
    /* The time limit for connecting; INT64_MAX: the transfer itself has one. */
    int64_t reach_ns;
    enum failure failure; /* of the exchange itself, whatever its HTTP status */
    char failure_text[TRANSFER_FAILURE_TEXT_SIZE]; /* can be shown; "": there is none */
    bool is_queued; /* it is in the loop's queue of ended transfers */
    TAILQ_ENTRY(transfer) link;
};

/* Uses our own client for plain HTTP/1.1, libcurl for everything else. INTERNAL if there is no
 * memory. All transfers of a loop must be destroyed before the loop. */
CHECKED bool transfer_create(const struct load *load, struct load_loop *loop,
                             const struct transfer_listener *listener, void *context,
                             struct transfer **out, struct error *error);
void transfer_destroy(struct transfer *transfer); /* does nothing for NULL */

/* POSTs `prompt`, which must remain valid until transfer_end. `is_fresh`: opens a new connection,
 * as is also done if the server is known to close the open one. */
void transfer_begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
/* Removes from the loop's queue, and returns, the next exchange that ended by itself; NULL if there
 * is none. */
struct transfer *transfer_take_ended(struct load_loop *loop);
/* Must follow every transfer_begin: removes the exchange from the loop, and cuts it off if it has
 * not ended. From then on `failure` says what ended it; NONE: it was complete, or cut off here. */
void transfer_end(struct transfer *transfer);

/* ---- For the implementations ----------------------------------------------------------------- */

struct transfer_kind {
    void (*begin)(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
    void (*end)(struct transfer *transfer);
    void (*destroy)(struct transfer *transfer);
};

/* Records that an answer arrived completely, on a connection that stays open. */
void transfer_note_answer(struct transfer *transfer);
/* Records that the server closed the open connection, apparently because of the number of
 * answers. */
void transfer_note_closed(struct transfer *transfer);
/* Records that the exchange ended by itself. */
void transfer_queue_ended(struct transfer *transfer);

/* Whether our own client can send this load. */
bool transfer_plain_can(const struct load *load);
struct transfer *transfer_plain_create(const struct load *load, struct load_loop *loop);

/* The next exchange of libcurl that ended by itself; NULL if there is none. */
struct transfer *transfer_curl_take_ended(struct load_loop *loop);
CHECKED bool transfer_curl_create(const struct load *load, struct load_loop *loop,
                                  struct transfer **out, struct error *error);
