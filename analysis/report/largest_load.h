/* The largest load that meets the limits of the plan. Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"
#include "base/measure/slo.h"

/* A point of the grid against the limits: the mean ratio over its repetitions, and the repetition
 * that is farthest gone. */
struct stand {
    bool judged; /* measured or failed at least once */
    double ratio;
    struct strain worst;
    struct point point;
};

/* Of one context and output length. */
struct limit_found {
    struct stand met;  /* the largest load that meets the limits; not judged: none does */
    struct stand miss; /* the smallest above it that does not; not judged: there is none */
    bool exact;        /* no load between the two, or above the first, is left unknown */
    size_t uneven;     /* smaller loads that miss the limits all the same */
};
struct limit_found limit_find(const struct grid *grid, const struct limits *limits, size_t output,
                              size_t context);
