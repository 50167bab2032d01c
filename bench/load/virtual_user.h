/* SPDX-License-Identifier: Apache-2.0 */
/* One simulated user of the endpoint: its current request, and the transfer that sends its
 * requests. */
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
    bool gave_up;    /* the answer is not a valid stream: we read no more of it */
    int64_t done_ns; /* when [DONE] came; 0: not yet */

    /* For the shard, which is the load thread that runs this user: */
    /* When to check for a timeout next; between requests, when the user's wait ends. */
    struct timer deadline;
    struct timer_heap *deadlines; /* in which `deadline` is set */
    bool is_busy;                 /* the user's request is in flight */
    bool thinks;                  /* the user is in its think time before the next request */
    unsigned failures;            /* requests that have failed in a row, up to now */
    int64_t rounds;               /* ended requests, not counting probes */
    STAILQ_ENTRY(virtual_user) link;
};

/* INTERNAL if there is no memory. Free with virtual_user_finish. */
CHECKED bool virtual_user_init(struct virtual_user *user, const struct load *load,
                               struct tally *tally, struct load_loop *loop,
                               struct timer_heap *deadlines, struct error *error);
void virtual_user_finish(struct virtual_user *user);

/* Begins request `index`, which was due at due_ns (monotonic). */
void virtual_user_begin(struct virtual_user *user, uint64_t index, bool is_probe, int64_t due_ns);
/* To be called after transfer_end. If this was the first attempt, and it reused a connection that
 * the server had closed in the meantime, sends the request again on a fresh connection and returns
 * true. */
bool virtual_user_retry(struct virtual_user *user);
/* Returns when the current request reaches its next timeout; INT64_MAX if no timeout of ours
 * applies now. Sets *which to the failure that this timeout means; NONE: the answer is complete,
 * and only the end of the body is missing. */
int64_t virtual_user_deadline_ns(const struct virtual_user *user, enum failure *which);
/* To be called after transfer_end: determines the outcome of the request and adds it to the tally.
 * `cut` says why we cut the request off; NONE: it ended by itself, or only the end of the body was
 * missing. */
void virtual_user_end(struct virtual_user *user, enum failure cut);
