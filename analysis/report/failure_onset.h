/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the load at which failures begin, and their kind. Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"

/* The smallest load of one output length and context at which a repetition failed, is infeasible or
 * lost requests. */
struct failure_onset {
    bool found;
    struct grid_point point;
    const struct cell_row *cell; /* the repetition that failed worst */
    enum failure failure;        /* FAILURE_NONE: not known */
    int64_t failed, attempted;   /* requests of that cell, as its measurement counts them */
    const char *message; /* of that cell's most frequent failure, else its reason; may be "" */
    /* Number of larger loads of which no repetition was measured: they failed, are infeasible or
     * were skipped. */
    size_t further;
};
/* `output` and `context` are indices into the grid's axes. */
struct failure_onset failure_onset_find(const struct cell_grid *grid, size_t output,
                                        size_t context);
