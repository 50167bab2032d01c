/* What a reader must know before trusting a point. Private to analysis/. */
#pragma once

#include "analysis/report/repetition_stats.h"

struct warning {
    const char *name; /* "client_limited" */
    const char *text; /* what it means for the figures */
    bool marks;       /* the point's figures carry a '!' in the tables */
    /* One of the two: does it hold for a measured cell, or for the point as a whole? */
    bool (*of_cell)(const struct cell_row *cell);
    bool (*of_point)(const struct point *point);
};

extern const struct warning warnings[];
extern const size_t warning_count;

bool warning_holds(const struct warning *warning, const struct point *point);
/* Does one that marks hold? */
bool point_is_marked(const struct point *point);
