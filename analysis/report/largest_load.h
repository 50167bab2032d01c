/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the largest load that meets the limits of the plan. Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"
#include "base/measure/slo.h"

/* How a point of the grid compares with the limits. Only its repetitions that were measured or
 * failed are judged. */
struct largest_load_level {
    bool judged; /* at least one repetition was judged */
    /* The mean of slo_nearest.ratio over the judged repetitions: the point meets the limits if this
     * is at most 1. */
    double ratio;
    struct slo_nearest worst; /* the result of the repetition with the largest ratio */
    struct grid_point point;
};

/* The result for one context and output length. */
struct largest_load {
    /* The largest load that meets the limits; `judged` is false if none does. */
    struct largest_load_level met;
    /* The smallest load above `met` that misses the limits; `judged` is false if there is none. */
    struct largest_load_level miss;
    /* Every load between `met` and `miss` was judged. If no load meets the limits: every load below
     * `miss`. If no larger load misses them: every load above `met`. */
    bool exact;
    /* Number of loads smaller than `met` that miss the limits nevertheless. */
    size_t smaller_misses;
};
/* `output` and `context` are indices into the grid's axes. */
struct largest_load largest_load_find(const struct cell_grid *grid, const struct slo *limits,
                                      size_t output, size_t context);
