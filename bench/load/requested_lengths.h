/* SPDX-License-Identifier: Apache-2.0 */
/* The lengths that requests asked for, compared with what the server counted, so that no difference
 * goes unreported. */
#pragma once

#include "base/measure/measurement.h"
#include "bench/workload/prompt_source.h"

/* Covers requests that succeeded. All zero at first. */
struct requested_lengths_lengths {
    int64_t count, sum, low, high;      /* tokens requested */
    int64_t differing, difference_most; /* requests of another length, and the largest difference */
};

struct requested_lengths {
    struct requested_lengths_lengths input, output;
    int64_t uncounted_input; /* tokens requested by requests whose input the server did not count */
    int64_t repeated;        /* requests whose prompt had been sent before */
    int64_t cut;             /* requests whose drawn length did not fit */
    int64_t shared_tokens;   /* tokens of their inputs that other requests share by design */
    int64_t reported_caching; /* requests whose usage reports how much was cached */
};

/* Adds a request that succeeded; counts are -1 if the server did not report them. */
void requested_lengths_count(struct requested_lengths *asked, const struct wanted *wanted,
                             int64_t prompt_tokens, int64_t completion_tokens,
                             int64_t cached_tokens);
void requested_lengths_merge(struct requested_lengths *into, const struct requested_lengths *from);
void requested_lengths_fill(const struct requested_lengths *asked, struct measurement *out);
