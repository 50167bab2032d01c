/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings that a reader must know before trusting a point. Private to analysis/. */
#pragma once

#include "analysis/report/repetition_stats.h"

struct point_warning {
    const char *name; /* "client_limited" */
    const char *text; /* what happened, or what that means for the figures */
    bool marks;       /* the point's figures carry a '!' in the tables */
    /* Whether a measured cell has the warning; NULL: the warning is for whole points. */
    bool (*of_cell)(const struct cell_row *cell);
    /* Whether the point itself has the warning; NULL: the warning is for cells. */
    bool (*of_point)(const struct grid_point *point);
};

extern const struct point_warning point_warnings[];
extern const size_t point_warning_count;

/* Whether the point, or one of its measured cells, has the warning. */
bool point_warning_applies(const struct point_warning *warning, const struct grid_point *point);
/* Whether the point has a warning with `marks`. */
bool point_warning_is_marked(const struct grid_point *point);
