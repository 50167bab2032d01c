/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the lengths that were requested with those that the server counted, so that no
 * difference goes unreported. */
#pragma once

#include "base/measure/measurement.h"
#include "bench/workload/prompt_source.h"

/* The input lengths, or the output lengths, of the requests that succeeded, in tokens. */
struct length_sums {
    int64_t count;          /* requests for which a length was requested */
    int64_t sum, low, high; /* the sum, minimum and maximum of the requested lengths */
    /* Requests whose counted length is not the requested one. An output that is allowed to end
     * early is included only if it is longer. */
    int64_t differing;
    int64_t difference_most; /* the largest difference */
};

/* Sums over the requests that succeeded. All zero at first. */
struct requested_lengths {
    struct length_sums input, output;
    int64_t uncounted_input;  /* input tokens that were requested, but not counted by the server */
    int64_t repeated;         /* requests whose prompt may have been sent before */
    int64_t cut;              /* requests whose randomly drawn length had to be changed */
    int64_t shared_tokens;    /* input tokens in prefixes that requests share */
    int64_t reported_caching; /* requests whose usage says how much was cached */
};

/* Adds a request that succeeded. A count of -1 means that the server did not report this count. */
void requested_lengths_add(struct requested_lengths *lengths, const struct wanted *wanted,
                           int64_t prompt_tokens, int64_t completion_tokens, int64_t cached_tokens);
void requested_lengths_merge(struct requested_lengths *into, const struct requested_lengths *from);
/* Fills in the measurement's members for requested lengths, shared tokens, repeated prompts and
 * reported caching. */
void requested_lengths_fill(const struct requested_lengths *lengths, struct measurement *out);
