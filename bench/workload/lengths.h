/* SPDX-License-Identifier: Apache-2.0 */
/* Draws lengths in tokens from a distribution. */
#pragma once

#include "base/core/random.h"
#include "bench/plan/plan.h"

struct lengths {
    enum distribution distribution;
    int64_t mean;
    double spread; /* how far lengths vary from the mean: see lengths_draw */
};

#define LENGTHS_LONGEST_FACTOR 10
/* Draws one length, which is at least 1. DISTRIBUTION_FIXED and DISTRIBUTION_DATASET give the mean.
 * DISTRIBUTION_UNIFORM gives mean x (1 - spread) to mean x (1 + spread), inclusive.
 * DISTRIBUTION_LOGNORMAL has this mean and a standard deviation of spread x mean, but gives at most
 * LENGTHS_LONGEST_FACTOR x mean. */
int64_t lengths_draw(const struct lengths *lengths, struct generator *generator);
/* The longest length that can be drawn. */
int64_t lengths_longest(const struct lengths *lengths);
