/* SPDX-License-Identifier: Apache-2.0 */
/* The internals of a load thread, for shard.c, which runs the thread, and shard_start.c, which
 * decides which user sends when. */
#pragma once

#include <pthread.h>

#include "bench/load/shard.h"
#include "bench/load/virtual_user.h"

STAILQ_HEAD(user_queue, virtual_user);

/* What the thread publishes: `done`, for shard_is_done, and the values of struct shard_status,
 * except `chunks`, which shard_read takes from the tally. */
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
    struct user_queue due;   /* users that can send now */
    struct user_queue idle;  /* in an open loop: users that are free for the next arrival */
    struct arrivals_share arrivals_share; /* in an open loop, positioned at the next arrival */
    int64_t arrivals_ns;                  /* the times of arrivals_share are relative to this */
    int64_t full_ns;                      /* when an arrival last found no free user; 0: never */
    struct generator generator;           /* for think times */
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

/* Sends requests that are due, but only a few per call, so that answers are also read. */
void shard_start_some(struct shard *shard);
/* When the next request can be sent (0: now); TIMER_NEVER if something else must happen first. */
int64_t shard_next_start_ns(const struct shard *shard);
/* Called when the user has waited until at_ns (for its turn to start, for a think time, or for a
 * pause after a failure): adds the user to `due`. */
void shard_end_pause(struct shard *shard, struct virtual_user *user, int64_t at_ns);
/* Called when the user's request has ended: decides what the user does next. */
void shard_continue(struct shard *shard, struct virtual_user *user);
/* Called when the user's request has begun, for the first time or again. */
void shard_note_begun(struct shard *shard, struct virtual_user *user);
/* Sets the timer at which the user's request is checked for a timeout: to the next timeout that it
 * can reach, or earlier. */
void shard_watch(struct shard *shard, struct virtual_user *user, int64_t now_ns);
/* Called at the end: counts the requests of an open loop that were due in the window and were never
 * begun. */
void shard_count_unsent(struct shard *shard);
