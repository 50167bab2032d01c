/* SPDX-License-Identifier: Apache-2.0 */
/* One user: its connection to the endpoint, which is used for each request, and the current
 * request. */
#pragma once

#include <sys/queue.h>

#include "base/llm/completion_stream.h"
#include "bench/load/tally.h"
#include "bench/load/timer_heap.h"
#include "bench/load/transfer.h"

struct virtual_user {
    const struct load *load;
    struct tally *tally;
    const struct load_loop *loop;
    struct transfer *transfer;
    struct completion_stream *stream;
    struct bench_prompt prompt;
    struct request request;
    bool gave_up;    /* we cut it off: it is not a stream */
    int64_t done_ns; /* when [DONE] came; 0: not yet */
    /* The loop uses the next members. */
    struct timer deadline;
    struct timer_heap *deadlines; /* the queue in which it waits */
    bool is_busy;
    bool thinks;       /* before its next request */
    unsigned failures; /* failures in a row */
    int64_t rounds;    /* requests of the load phase that ended */
    STAILQ_ENTRY(virtual_user) link;
};

/* INTERNAL if there is no memory. Free with virtual_user_finish. */
CHECKED bool virtual_user_init(struct virtual_user *connection, const struct load *load,
                               struct tally *tally, struct load_loop *loop,
                               struct timer_heap *deadlines, struct error *error);
void virtual_user_finish(struct virtual_user *connection);

/* Begins request `index`. */
void virtual_user_begin(struct virtual_user *connection, uint64_t index, bool is_probe,
                        int64_t due_ns);
/* After transfer_end: sends the same request again, on a fresh connection; true if that is allowed
 * (an open connection that the server had closed, nothing received). */
bool virtual_user_retry(struct virtual_user *connection);
/* When the current request reaches its next timeout, and which one that is; NONE: it is answered,
 * although its body is still open. */
int64_t virtual_user_deadline_ns(const struct virtual_user *connection, enum failure *which);
/* After transfer_end: determines the outcome of the request and adds it to the tally. `cut`: what
 * we cut it off for; NONE: it ended by itself. */
void virtual_user_end(struct virtual_user *connection, enum failure cut);
