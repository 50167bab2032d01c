/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out, from samples of a count, how fast the count grows (its rate), whether this rate has
 * settled, how precisely it is known, and when it changed most clearly. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steady {
    struct steady_sample {
        int64_t at_ns, count;
    } * samples;
    size_t count, capacity;
};

void steady_finish(struct steady *steady);
void steady_add(struct steady *steady, int64_t at_ns, int64_t count);
/* Whether the rate over the last window_ns and the rate over the window_ns before them differ by at
 * most a tenth of the larger one. False if the samples do not cover both windows, or if the count
 * did not grow in the earlier one. */
bool steady_agrees(const struct steady *steady, int64_t window_ns);
/* Like steady_agrees, but with `share` instead of a tenth. */
bool steady_agrees_within(const struct steady *steady, int64_t window_ns, double share);
/* The mean rate per second over the last window_ns, or over all samples if they cover less; NaN if
 * there are fewer than two samples. */
double steady_rate(const struct steady *steady, int64_t window_ns);
/* Half the width of the 95 % confidence interval of the mean rate over all samples, as a share of
 * the mean; NaN if there are too few samples, or the count does not grow. It is computed from the
 * means of 20 batches with Student's t (Law, "Simulation Modeling and Analysis", 9.5.3). There are
 * only 10 batches if the samples are too few for 20, or if adjacent ones among the 20 are
 * correlated. If adjacent batches have a positive correlation r, the interval is widened as if the
 * number of batches were divided by (1 + r) / (1 - r) (Bayley and Hammersley 1946). */
double steady_half_width(const struct steady *steady);
/* The moment at which the rate changed most clearly, even if it hardly changed. */
struct steady_shift {
    double at;    /* the moment, as a share of the time: 0 to 1 */
    double share; /* (rate after - rate before) / mean of the two */
    double error; /* the standard error of `share`, estimated from batches */
};
/* Returns false if there are too few samples, or the count does not grow. */
bool steady_find_shift(const struct steady *steady, struct steady_shift *out);
/* How much the count grows per second: the slope of the least-squares line. NaN if there are fewer
 * than 3 samples. */
double steady_growth(const struct steady *steady);
