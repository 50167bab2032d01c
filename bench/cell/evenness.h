/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the server kept one pace through a window: after a stall, or where an engine becomes
 * slower in the middle, a mean describes no state that the server was in. */
#pragma once

#include "base/measure/measurement.h"
#include "bench/cell/steady.h"
#include "bench/plan/plan.h"

#define EVENNESS_SIZE 160

/* The window as it passes. Zero: nothing yet. */
struct evenness {
    int64_t chunks, seen_ns; /* at the latest look */
    int64_t silence_ns;      /* without a chunk until then, while requests were in flight */
    int64_t longest_ns;
};

/* One look; `chunks`: so many have come. */
void evenness_note(struct evenness *evenness, int64_t now_ns, int64_t chunks, int64_t in_flight);

/* Fills out->silence_s and out->uneven of a measurement that is whole but for these, and says in a
 * sentence why; "" where it is even. */
void evenness_judge(const struct evenness *evenness, const struct steady *progress,
                    const struct plan *plan, struct measurement *out, char reason[EVENNESS_SIZE]);
