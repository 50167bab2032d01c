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

/* Events of an exchange. Times are monotonic nanoseconds. */
struct transfer_listener {
    /* Connected, the first byte is about to be sent. Called a second time in one exchange if the
     * open connection that it used had been closed, and it opened another. */
    void (*on_send)(void *context, int64_t now_ns);
    /* Before the first bytes of the body, or at the end if there is none. */
    void (*on_head)(void *context, long status, const char *content_type);
    /* Bytes of the body, directly after they were read; false ends the exchange. */
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
    /* Of the current exchange or, once it ended, of the latest one. */
    bool is_new;                /* it opened a connection, */
    int64_t connect_ns, tls_ns; /* which took this long, without and for TLS; 0: none was opened */
    bool went_stale;            /* an open connection that the server had closed: no answer came */
    bool was_unread;            /* and it cannot have read the request */
    int answers;                /* received on the open connection, */
    int64_t ended_ns;           /* and when the latest of them ended */
    int64_t reach_ns;     /* not connected by then: too late; INT64_MAX: it handles that itself */
    enum failure failure; /* of the exchange itself, whatever the status */
    char failure_text[TRANSFER_FAILURE_TEXT_SIZE]; /* about the failure, in words that can be shown;
                                                      "" for none */
    bool is_queued;                                /* in the loop's queue of ended ones */
    TAILQ_ENTRY(transfer) link;
};

/* Plain HTTP/1.1 with our own client, everything else with libcurl. INTERNAL if there is no memory.
 * All transfers of a loop must be destroyed before the loop. */
CHECKED bool transfer_create(const struct load *load, struct load_loop *loop,
                             const struct transfer_listener *listener, void *context,
                             struct transfer **out, struct error *error);
void transfer_destroy(struct transfer *transfer); /* does nothing for NULL */

/* POSTs `prompt`, which must remain valid until the end; `is_fresh`: not on a connection that is
 * already open. (A connection that the server is known to close is not used either.) */
void transfer_begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
/* The next exchange that ended by itself, or NULL. */
struct transfer *transfer_take_ended(struct load_loop *loop);
/* Must follow every begin: removes it from the loop, and cuts it off if it has not ended. Its
 * failure is known from then on: that of what ended it, else NONE. */
void transfer_end(struct transfer *transfer);

/* ---- For its implementations ----------------------------------------------------------------- */

struct transfer_kind {
    void (*begin)(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
    void (*end)(struct transfer *transfer);
    void (*destroy)(struct transfer *transfer);
};

/* An answer arrived completely, on a connection that stays open. */
void transfer_note_answer(struct transfer *transfer);
/* The server closed the open connection, apparently because of the number of answers. */
void transfer_note_closed(struct transfer *transfer);
/* It ended by itself. */
void transfer_queue_ended(struct transfer *transfer);

bool transfer_plain_can(const struct load *load);
struct transfer *transfer_plain_create(const struct load *load, struct load_loop *loop);

struct transfer *transfer_curl_take_ended(struct load_loop *loop);
CHECKED bool transfer_curl_create(const struct load *load, struct load_loop *loop,
                                  struct transfer **out, struct error *error);
