/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that loads a cell: some of its users, and an epoll loop. */
#pragma once

#include "bench/load/tally.h"

struct shard;

/* What the controlling thread may read while the shard runs: totals since the load phase began. */
struct shard_status {
    int64_t succeeded, failed, chunks;
    int64_t window_ended;         /* of the requests that count (tally_counts) */
    int64_t users_settled;        /* users with at least two ended requests */
    double e2e_ns, ttft_ns;       /* sums over the successes */
    int64_t tokens, token_chunks; /* of all answers, with probes: output tokens, and the chunks that
                                   * held them */
    int64_t in_flight;
    int64_t probes_ended;
    enum failure probe_failure; /* of the latest probe, */
    double probe_e2e_ns;        /* and how long it took; 0 if it failed */
};

/* Which of a cell's threads this is, and how many users it has; in an open loop, how many requests
 * it may have in flight. */
struct shard_part {
    size_t index, count, users;
};
/* Starts the thread with its users; what it sends depends on load->phase. */
CHECKED bool shard_create(struct load *load, struct shard_part part, struct shard **out,
                          struct error *error);
/* Wakes the thread, so that it notices a change of load->phase at once. */
void shard_wake(struct shard *shard);
void shard_read(struct shard *shard, struct shard_status *out);
int64_t shard_cpu_ns(struct shard *shard); /* CPU time its thread has used */
/* How long its thread was ready to run but had to wait for a CPU; 0 if the kernel does not report
 * it. */
int64_t shard_cpu_wait_ns(struct shard *shard);
/* True once nothing is in flight and the phase is DRAIN or ABORT. */
bool shard_is_done(struct shard *shard);
/* Waits for the thread (the phase must be DRAIN or ABORT). Its tally is borrowed. */
const struct tally *shard_join(struct shard *shard);
void shard_destroy(struct shard *shard); /* aborts and joins if necessary; does nothing for NULL */
