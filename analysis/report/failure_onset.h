/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the load at which failures begin, and their kind. Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"

/* For one output length and context: the smallest load at which a repetition failed, is infeasible
 * (too long for the model) or lost requests. */
struct failure_onset {
    bool found;
    struct grid_point point;
    const struct cell_row *cell; /* the repetition that failed worst */
    enum failure failure;        /* the most frequent class in `cell`; FAILURE_NONE: not known */
    int64_t failed;              /* number of requests of `cell` that failed */
    int64_t attempted;           /* number of requests that `cell` attempted */
    /* The first error message in that class; if there is none, the reason of `cell`, which can be
     * "". */
    const char *message;
    /* Number of larger loads at which no repetition was measured: they failed, are infeasible or
     * were skipped. */
    size_t further;
};
/* `output` and `context` are indices into the grid's axes. */
struct failure_onset failure_onset_find(const struct cell_grid *grid, size_t output,
                                        size_t context);
