/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings that a reader must know before trusting a point. Private to analysis/. */
#pragma once

#include "analysis/report/repetition_stats.h"

struct point_warning {
    const char *name; /* "client_limited" */
    const char *text; /* its consequence for the figures */
    bool marks;       /* the point's figures carry a '!' in the tables */
    /* Exactly one of the two is set: whether the warning holds for a measured cell, or for the
     * point as a whole. */
    bool (*of_cell)(const struct cell_row *cell);
    bool (*of_point)(const struct grid_point *point);
};

extern const struct point_warning warnings[];
extern const size_t point_warning_count;

bool point_warning_holds(const struct point_warning *warning, const struct grid_point *point);
/* Whether one of the warnings with `marks` holds. */
bool point_warning_is_marked(const struct grid_point *point);
