/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a load thread: shard.c runs it, shard_start.c decides who sends when. */
#pragma once

#include <pthread.h>

#include "bench/load/shard.h"
#include "bench/load/virtual_user.h"

STAILQ_HEAD(connection_queue, virtual_user);

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
    size_t user_count, busy;
    struct connection_queue due;          /* waiting to send */
    struct connection_queue idle;         /* in an open loop, free to take a request */
    struct arrivals_share arrivals_share; /* in an open loop, with the next arrival to send */
    int64_t arrivals_ns;                  /* its times are relative to this */
    int64_t full_ns;            /* the latest time at which an arrival found no free connection */
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
/* When the next request can be sent; TIMER_NEVER if something else must happen first. */
int64_t shard_next_start_ns(const struct shard *shard);
/* The user's pause is over: it sends as soon as possible, and was due at at_ns. */
void shard_make_due(struct shard *shard, struct virtual_user *user, int64_t at_ns);
/* Its think time, or its pause after a failure, is over. */
void shard_end_pause(struct shard *shard, struct virtual_user *user, int64_t at_ns);
/* Its request ended; decides what it does next. */
void shard_continue(struct shard *shard, struct virtual_user *user);
/* It was begun (again); sets its timeouts. */
void shard_note_begun(struct shard *shard, struct virtual_user *user);
void shard_watch(struct shard *shard, struct virtual_user *user, int64_t now_ns);
/* At the end: counts the requests that were due in the window of an open loop and were never sent.
 */
void shard_count_unsent(struct shard *shard);
