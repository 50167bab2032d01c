/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the largest load that meets the limits of the plan. Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"
#include "base/measure/slo.h"

/* A point of the grid compared with the limits: the mean of slo_nearest.ratio over its repetitions
 * that were measured or failed, and the result of the one with the largest ratio. */
struct largest_load_level {
    bool judged; /* there is such a repetition */
    double ratio;
    struct slo_nearest worst;
    struct grid_point point;
};

/* The result for one context and output length. */
struct largest_load {
    /* The largest load that meets the limits; judged false: none does. */
    struct largest_load_level met;
    /* The smallest load above `met` that misses the limits; judged false: there is none. */
    struct largest_load_level miss;
    /* Every load between `met` and `miss` was judged. Without `met`, this means every load below
     * `miss`; without `miss`, every load above `met`. */
    bool exact;
    /* Number of loads smaller than `met` that miss the limits nevertheless. */
    size_t smaller_misses;
};
/* `output` and `context` are indices into the grid's axes. */
struct largest_load largest_load_find(const struct cell_grid *grid, const struct slo *limits,
                                      size_t output, size_t context);
