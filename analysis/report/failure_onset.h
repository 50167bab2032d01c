/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the load at which failures begin, and their kind. Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"

/* The smallest load of one output length and context at which a repetition failed, was too long or
 * lost requests. */
struct failure_onset {
    bool found;
    struct grid_point point;
    const struct cell_row *cell; /* the repetition that failed worst */
    enum failure failure;        /* FAILURE_NONE: not known */
    int64_t failed, attempted;   /* requests of that cell; both 0: none was sent */
    const char *message;         /* what the server or the sweep reported; may be "" */
    /* Number of larger loads of which no repetition was measured: they failed, are too long or were
     * skipped. */
    size_t further;
};
struct failure_onset failure_onset_find(const struct cell_grid *grid, size_t output,
                                        size_t context);
