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
/* Draws one length, which is at least 1. Fixed, or by a dataset: the mean. Uniform: from
 * mean x (1 - spread) to mean x (1 + spread). Lognormal: with this mean and the standard deviation
 * spread x mean, but at most LENGTHS_LONGEST_FACTOR x mean. */
int64_t lengths_draw(const struct lengths *lengths, struct generator *generator);
/* The longest length that can be drawn. */
int64_t lengths_longest(const struct lengths *lengths);
