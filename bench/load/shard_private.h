/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a load thread: shard.c runs it, shard_start.c decides who sends when. */
#pragma once

#include <pthread.h>

#include "bench/load/shard.h"
#include "bench/load/virtual_user.h"

STAILQ_HEAD(user_queue, virtual_user);

/* What the thread publishes: the values of struct shard_status, except `chunks`, which shard_read
 * reads from the tally; and `done`, for shard_is_done. */
struct published {
    atomic_int_fast64_t succeeded, failed, window_ended, users_settled, e2e_us, ttft_us, tokens,
        token_chunks, in_flight, probe_failure, probe_e2e_ns, probes_ended;
    atomic_bool done;
};

struct shard {
    struct load *load;
    struct tally tally;
    struct load_loop loop;
    struct published published;
    pthread_t thread;
    bool has_thread;
    atomic_int thread_id; /* the kernel's id of the thread */

    struct shard_part part;
    struct virtual_user *users;
    size_t user_count, busy; /* busy: users with a request in flight */
    struct user_queue due;   /* users that may send now */
    struct user_queue idle;  /* in an open loop: users that are free for the next arrival */
    struct arrivals_share arrivals_share; /* in an open loop, positioned at the next arrival */
    int64_t arrivals_ns;                  /* the times of arrivals_share are relative to this */
    int64_t full_ns;            /* the latest time at which an arrival found no free user */
    struct generator generator; /* for think times */
    struct timer_heap deadlines;
    int64_t probes_begun;
    bool loading; /* this shard has begun the load phase */
};

static inline enum phase shard_phase(const struct shard *shard)
{
    return atomic_load_explicit(&shard->load->phase, memory_order_acquire);
}

static inline bool shard_is_open(const struct shard *shard)
{
    return shard->load->arrivals != NULL;
}

/* Sends what is due, a few requests at a time. */
void shard_start_some(struct shard *shard);
/* When the next request can be sent (0: now); TIMER_NEVER if something else must happen first. */
int64_t shard_next_start_ns(const struct shard *shard);
/* Called when the user's wait was over at at_ns (for its turn to start, a think time, or a pause
 * after a failure): adds the user to `due`. */
void shard_end_pause(struct shard *shard, struct virtual_user *user, int64_t at_ns);
/* Called when the user's request has ended: decides what the user does next. */
void shard_continue(struct shard *shard, struct virtual_user *user);
/* Called when the user's request has begun, or was begun again. */
void shard_note_begun(struct shard *shard, struct virtual_user *user);
/* Sets the timer for the first timeout that the user's request can reach, or earlier. */
void shard_watch(struct shard *shard, struct virtual_user *user, int64_t now_ns);
/* Called at the end: counts the requests of an open loop that were due in the window and were never
 * begun. */
void shard_count_unsent(struct shard *shard);
