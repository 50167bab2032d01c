/* SPDX-License-Identifier: Apache-2.0 */
/* One load thread of a cell: its share of the cell's users, and an epoll loop. */
#pragma once

#include "bench/load/tally.h"

struct shard;

/* What the controlling thread can read while the shard runs: totals so far, without probes unless a
 * comment says otherwise. */
struct shard_status {
    int64_t succeeded, failed;
    int64_t chunks;        /* including those of probes */
    int64_t window_ended;  /* ended requests that count for the window (tally_counts) */
    int64_t users_settled; /* users with at least two ended requests */
    double e2e_ns;         /* sum over the successes: from when they were sent to their end */
    double ttft_ns;        /* sum over the successes: from tally_origin_ns to the first chunk */
    int64_t tokens;        /* output tokens of the successes, including those of probes */
    int64_t token_chunks;  /* chunks of these answers */
    int64_t in_flight;     /* now, including a probe */
    int64_t probes_ended;
    enum failure probe_failure; /* of the latest probe */
    double probe_e2e_ns;        /* how long the latest successful probe took; 0: none succeeded */
};

/* One thread's part of the load. */
struct shard_part {
    size_t index, count; /* this is thread `index` of `count`, counting from 0 */
    /* How many users the thread has; in an open loop: how many requests it can have in flight. */
    size_t users;
};
/* Starts the thread with its users; what they send depends on load->phase. BUSY if the thread's
 * event loop cannot be opened, or there are too many threads; INTERNAL if there is no memory. Free
 * with shard_destroy. */
CHECKED bool shard_create(struct load *load, struct shard_part part, struct shard **out,
                          struct error *error);
/* Wakes the thread, so that it immediately notices a change of load->phase or load->probes. */
void shard_wake(struct shard *shard);
void shard_read(struct shard *shard, struct shard_status *out);
/* CPU time that the thread has used; 0 if not known. Not to be called after shard_join. */
int64_t shard_cpu_ns(struct shard *shard);
/* How long the thread was ready to run but had to wait for a CPU; 0 if the kernel does not report
 * it. */
int64_t shard_cpu_wait_ns(struct shard *shard);
/* Whether the thread has finished. In PHASE_DRAIN, it finishes once nothing is in flight; in
 * PHASE_ABORT, as soon as it notices the phase. */
bool shard_is_done(struct shard *shard);
/* Waits for the thread to end, which it does only in the phases DRAIN and ABORT. Returns its tally,
 * borrowed until shard_destroy. */
const struct tally *shard_join(struct shard *shard);
/* If shard_join was not called, first sets load->phase to ABORT, which ends all threads of the
 * load, and joins this thread. Does nothing for NULL. */
void shard_destroy(struct shard *shard);
