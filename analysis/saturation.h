/* Where throughput peaks and from where more users only wait. Private to analysis/. */
#pragma once

#include "analysis/figure.h"

/* The sound point with the most output tokens per second of one output length. */
struct peak {
    bool found;
    struct point point;
    double output_tokens_per_s;
};
struct peak peak_find(const struct grid *grid, size_t output);

/* Of one context: the smallest load whose output tokens per second reach SATURATION_SHARE of that
 * context's peak, over its sound points. */
#define SATURATION_SHARE 0.95
struct saturation {
    bool found;   /* two sound points or more */
    bool reached; /* false: the greatest sound load is the first to come that near, and its queue
                     did not grow */
    bool lost;    /* not reached, and greater loads lost requests or failed */
    struct point at, peak;
    double output_tokens_per_s, peak_tokens_per_s;
    double doubled_load; /* smallest load at which the E2E median is twice that of the smallest
                            load; 0: at none */
    bool at_most, doubled_at_most; /* the load below was not measured, and may be it already; a load
                                      that was inferred is not the saturation point */
};
struct saturation saturation_find(const struct grid *grid, size_t output, size_t context);
