/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/lengths.h"

#include <math.h>

/* Draws from the standard normal distribution (Box and Muller 1958). */
static double draw_normal(struct generator *generator)
{
    double radius = sqrt(-2 * log(1 - generator_uniform(generator)));

    return radius * cos(2 * M_PI * generator_uniform(generator));
}

/* A lognormal distribution with mean m and coefficient of variation c has sigma^2 = ln(1 + c^2) and
 * mu = ln(m) - sigma^2 / 2. */
static double draw_lognormal(const struct lengths *lengths, struct generator *generator)
{
    double variance = log1p(lengths->spread * lengths->spread);
    double location = log((double)lengths->mean) - variance / 2;

    return exp(location + sqrt(variance) * draw_normal(generator));
}

static int64_t half_range(const struct lengths *lengths)
{
    return (int64_t)((double)lengths->mean * lengths->spread);
}

static int64_t within(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

int64_t lengths_longest(const struct lengths *lengths)
{
    if (lengths->distribution == DISTRIBUTION_LOGNORMAL)
        return lengths->mean * LENGTHS_LONGEST_FACTOR;
    return lengths->mean
           + (lengths->distribution == DISTRIBUTION_UNIFORM ? half_range(lengths) : 0);
}

int64_t lengths_draw(const struct lengths *lengths, struct generator *generator)
{
    int64_t half = half_range(lengths);

    switch (lengths->distribution) {
    case DISTRIBUTION_FIXED:
    case DISTRIBUTION_DATASET:
        break;
    case DISTRIBUTION_UNIFORM:
        return within(lengths->mean - half
                          + (int64_t)generator_below(generator, (uint64_t)(2 * half + 1)),
                      1, lengths_longest(lengths));
    case DISTRIBUTION_LOGNORMAL:
        return within(llround(draw_lognormal(lengths, generator)), 1, lengths_longest(lengths));
    }
    return lengths->mean;
}
