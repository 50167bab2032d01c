/* SPDX-License-Identifier: Apache-2.0 */
/* What samples of a counter tell of its rate: has it settled, how well is it known, does it grow.
 */
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
/* Within a tenth of the larger one, over the last window_ns and the window_ns before. False while
 * there are not two windows yet, or nothing moves. */
bool steady_agrees(const struct steady *steady, int64_t window_ns);
/* The same with another share than a tenth. */
bool steady_agrees_within(const struct steady *steady, int64_t window_ns, double share);
/* Half the width of the 95 % confidence interval of the mean rate over all samples, as a share of
 * it; NaN while they are too few or nothing moves. By batch means (Law, "Simulation Modeling and
 * Analysis", 9.5.3): Student's t over 20 batches, or 10 where those of 20 depend on one another;
 * what dependence is left widens it as if there were fewer batches: by (1 + r) / (1 - r) for the
 * autocorrelation r of neighbours (Bayley and Hammersley 1946). */
double steady_width(const struct steady *steady);
/* Where the rate changed most distinctly, if it did: there is always such a place. */
struct steady_shift {
    double at;    /* as a share of the time */
    double share; /* by how much the rate after it differs, of the mean of both */
    double error; /* its standard error, by batches of the time */
};
/* False while the samples are too few. */
bool steady_find_shift(const struct steady *steady, struct steady_shift *out);
/* By how much the count grows per second: the slope of the least squares line. NaN below 3 samples.
 */
double steady_growth(const struct steady *steady);
