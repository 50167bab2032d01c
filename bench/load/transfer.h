/* SPDX-License-Identifier: Apache-2.0 */
/* One user's way to the endpoint: one exchange after the other, on a connection that is kept open
 * for the next. Who loads is told what happens; what it means is not known here. */
#pragma once

#include <sys/queue.h>

#include "base/llm/failure.h"
#include "bench/load/load.h"
#include "bench/load/load_loop.h"
#include "bench/load/request_id.h"

#define TRANSFER_SAID_SIZE 256

/* What an exchange tells its user. Times are monotonic nanoseconds. */
struct transfer_listener {
    /* Connected, the first byte about to go out. A second time in one exchange: the open connection
     * that it took had been closed, and it took another. */
    void (*on_send)(void *context, int64_t now_ns);
    /* Before the first bytes of the body, or at the end where it has none. */
    void (*on_head)(void *context, long status, const char *content_type);
    /* Of the body, right after they were read; false ends the exchange. */
    bool (*on_bytes)(void *context, const char *bytes, size_t length, int64_t now_ns);
};

struct transfer_kind;

struct transfer {
    const struct transfer_kind *kind;
    struct load_loop *loop;
    struct connection_reuse *reuse;
    const struct transfer_listener *listener;
    void *context;
    char request_id[REQUEST_ID_DIGITS + 1]; /* the caller's to write before it begins */
    /* Of the exchange under way or, once it ended, the latest one. */
    bool is_new;                /* it opened a connection, */
    int64_t connect_ns, tls_ns; /* which took so long, without and for TLS; 0: none was made */
    bool went_stale;  /* an open connection that the server had closed: nothing came of it */
    bool was_unread;  /* and it cannot have read the request */
    int answers;      /* that came on the open connection, */
    int64_t ended_ns; /* the latest of them then */
    int64_t reach_ns; /* not connected by then: too late; INT64_MAX: it looks after that itself */
    enum failure failure;          /* of the exchange as such, whatever the status */
    char said[TRANSFER_SAID_SIZE]; /* about it, in words that can be shown; "" for none */
    bool is_queued;                /* in the loop's ended ones */
    TAILQ_ENTRY(transfer) link;
};

/* Plain HTTP/1.1 by ourselves, all else by libcurl. INTERNAL when there is no memory. All of one
 * loop must be destroyed before the loop is. */
CHECKED bool transfer_create(const struct load *load, struct load_loop *loop,
                             const struct transfer_listener *listener, void *context,
                             struct transfer **out, struct error *error);
void transfer_destroy(struct transfer *transfer); /* NULL is fine */

/* POSTs `prompt`, which must stay until the end; `is_fresh`: not on a connection that is open. (Nor
 * is one used that the server is known to close.) */
void transfer_begin(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
/* The next exchange that ended by itself, or NULL. */
struct transfer *transfer_take_ended(struct load_loop *loop);
/* Must follow every begin: takes it off the loop, and cuts it where it has not ended. Its failure
 * is known from then on: that of what ended it, else NONE. */
void transfer_end(struct transfer *transfer);

/* ---- For its implementations ----------------------------------------------------------------- */

struct transfer_kind {
    void (*begin)(struct transfer *transfer, struct bench_prompt *prompt, bool is_fresh);
    void (*end)(struct transfer *transfer);
    void (*destroy)(struct transfer *transfer);
};

/* An answer came whole, on a connection that stays open. */
void transfer_note_answer(struct transfer *transfer);
/* The server closed the open connection, as it seems because of how many answers it gave. */
void transfer_note_closed(struct transfer *transfer);
/* It ended by itself. */
void transfer_queue_ended(struct transfer *transfer);

bool transfer_plain_can(const struct load *load);
struct transfer *transfer_plain_create(const struct load *load, struct load_loop *loop);

struct transfer *transfer_curl_take_ended(struct load_loop *loop);
CHECKED bool transfer_curl_create(const struct load *load, struct load_loop *loop,
                                  struct transfer **out, struct error *error);
