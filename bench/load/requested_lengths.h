/* SPDX-License-Identifier: Apache-2.0 */
/* What requests asked for, beside what the server counted: no difference stays untold. */
#pragma once

#include "base/measure/measurement.h"
#include "bench/workload/prompt_source.h"

/* Of requests that succeeded. All zero: none yet. */
struct requested_lengths_lengths {
    int64_t count, sum, low, high;      /* asked for */
    int64_t differing, difference_most; /* requests of another length, and by how much at most */
};

struct requested_lengths {
    struct requested_lengths_lengths input, output;
    int64_t untold_input;    /* tokens asked for by requests whose input the server did not count */
    int64_t repeated;        /* requests whose prompt was sent before */
    int64_t cut;             /* requests whose drawn length did not fit */
    int64_t shared_tokens;   /* of their inputs, by design */
    int64_t told_of_caching; /* requests whose usage says how much was cached */
};

/* Of a request that succeeded; counts are -1 where the server did not say. */
void requested_lengths_count(struct requested_lengths *asked, const struct wanted *wanted,
                             int64_t prompt_tokens, int64_t completion_tokens,
                             int64_t cached_tokens);
void requested_lengths_merge(struct requested_lengths *into, const struct requested_lengths *from);
void requested_lengths_fill(const struct requested_lengths *asked, struct measurement *out);
