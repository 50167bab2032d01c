/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the server kept an even pace during a window. If the server stalled, became
 * slower or faster, or varied too much, the window's means say little about it. */
#pragma once

#include "base/measure/measurement.h"
#include "bench/cell/steady.h"
#include "bench/plan/plan.h"

#define EVENNESS_SIZE 160

/* The server's silences, found in samples that are taken during the window. All members are zero
 * before the first sample. */
struct evenness {
    int64_t chunks;     /* how many had arrived at the latest sample */
    int64_t sampled_ns; /* when the latest sample was taken */
    int64_t silence_ns; /* time without a chunk until then, while requests were in flight */
    int64_t longest_ns; /* the longest silence so far */
};

/* Adds a sample: so far, `chunks` chunks have arrived, and `in_flight` requests have begun but
 * not ended. */
void evenness_note(struct evenness *evenness, int64_t now_ns, int64_t chunks, int64_t in_flight);

/* Fills in out->silence_s and out->uneven; the members `attempted`, window_s, throughput_ci and
 * `latency` must already be set. `reason` says what was uneven; "" if the pace was even. */
void evenness_judge(const struct evenness *evenness, const struct steady *progress,
                    const struct plan *plan, struct measurement *out, char reason[EVENNESS_SIZE]);
