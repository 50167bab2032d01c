/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the peak of throughput, and the load at which the server saturates (load_curve.h). Private
 * to analysis/. */
#pragma once

#include "analysis/report/load_curve.h"
#include "analysis/report/repetition_stats.h"

/* The sound point (grid_point_is_sound) of one output length that has the most output tokens per
 * second. */
struct peak {
    bool found;
    struct grid_point point;
    double output_tokens_per_s;
};
struct peak peak_find(const struct cell_grid *grid, size_t output);

/* The saturation of one context, judged by its sound points (load_curve.h). */
struct saturation {
    bool found; /* there are two or more sound points with output tokens */
    /* Saturation was not reached, and a load above the largest sound one failed, or lost more
     * requests than a sound point is allowed to. */
    bool lost;
    /* Saturation was not reached, and a load above the largest sound one was measured while the
     * server also worked for other clients. */
    bool foreign;
    struct load_verdict verdict;
    double next[LOADS_TO_MEASURE]; /* loads that would narrow the interval */
    size_t next_count;
    struct grid_point at;       /* the sound point at the index verdict.at */
    double output_tokens_per_s; /* of `at` */
    struct grid_point peak;     /* the sound point with the most output tokens per second */
    double peak_tokens_per_s;
    /* The load of the first sound point whose E2E median is at least twice that of the sound point
     * with the smallest load; 0: none. */
    double doubled_load;
    /* The next smaller load is pending or inferred: the median may have doubled there already. */
    bool doubled_at_most;
};
struct saturation saturation_find(const struct cell_grid *grid, size_t output, size_t context);
/* Writes "saturated between 4 and 16 users (measure 6, 8, 12 next); the server runs about 4
 * requests at once". */
void saturation_sentence(const struct saturation *saturation, struct text *out);
