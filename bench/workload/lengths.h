/* SPDX-License-Identifier: Apache-2.0 */
/* Draws lengths in tokens from a distribution. */
#pragma once

#include "base/core/random.h"
#include "bench/plan/plan.h"

struct lengths {
    enum distribution distribution;
    int64_t mean;
    double spread; /* as in struct plan */
};

#define LENGTHS_LONGEST_FACTOR 10
/* Draws one length, which is at least 1. A fixed distribution, or one from a dataset, gives the
 * mean. A uniform one gives mean x (1 - spread) to mean x (1 + spread). A lognormal one has this
 * mean and a standard deviation of spread x mean, but gives at most LENGTHS_LONGEST_FACTOR x
 * mean. */
int64_t lengths_draw(const struct lengths *lengths, struct generator *generator);
/* The longest length that can be drawn. */
int64_t lengths_longest(const struct lengths *lengths);
