/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out from samples of a counter whether its rate has settled, how precisely it is known, and
 * whether it grows. */
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
/* Whether the last window_ns and the window_ns before agree to within a tenth of the larger one.
 * False if there are not two windows yet, or the counter does not grow. */
bool steady_agrees(const struct steady *steady, int64_t window_ns);
/* The same with a share other than a tenth. */
bool steady_agrees_within(const struct steady *steady, int64_t window_ns, double share);
/* The mean rate over the last window_ns, or over all samples if that is less; NaN if there are not
 * two. */
double steady_rate(const struct steady *steady, int64_t window_ns);
/* Half the width of the 95 % confidence interval of the mean rate over all samples, as a share of
 * it; NaN if there are too few, or the counter does not grow. By batch means (Law, "Simulation
 * Modeling and Analysis", 9.5.3): Student's t over 20 batches, or 10 if those of 20 depend on one
 * another; remaining dependence widens it as if there were fewer batches: by (1 + r) / (1 - r) for
 * the autocorrelation r of neighbours (Bayley and Hammersley 1946). */
double steady_width(const struct steady *steady);
/* The place at which the rate changed most clearly, even if it hardly changed. */
struct steady_shift {
    double at;    /* as a share of the time */
    double share; /* the difference of the rates after and before, divided by the mean of both */
    double error; /* its standard error, by batches of the time */
};
/* False if there are too few samples. */
bool steady_find_shift(const struct steady *steady, struct steady_shift *out);
/* By how much the count grows per second: the slope of the least squares line. NaN below 3 samples
 */
double steady_growth(const struct steady *steady);
