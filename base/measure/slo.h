/* SPDX-License-Identifier: Apache-2.0 */
/* The limits that a plan sets for latencies and errors, and how far a cell is from them. */
#pragma once

#include <jansson.h>

#include "base/measure/measurement.h"

struct slo {
    int64_t percentile; /* 50, 90, 95 or 99; the four latency limits apply to this percentile */
    double ttft_ms, itl_ms, tpot_ms, e2e_ms; /* 0: no such limit */
    /* The share of requests that are allowed to fail. 0: the plan states none, so SLO_ERROR_RATE
     * applies. */
    double error_rate;
};
#define SLO_ERROR_RATE 0.01

/* Reads the members of a plan ("limit_ttft_ms", ...); a missing limit becomes 0, a missing
 * percentile 99. */
void slo_from_plan(const json_t *plan, struct slo *out);
/* Whether the plan states any limit. */
bool slo_are_stated(const struct slo *limits);

/* The limit that a cell is closest to, or exceeds most. */
struct slo_nearest {
    /* The figure divided by its limit: the limit is met if this is at most 1. For the error rate,
     * it is 0 if the limit is met, else INFINITY (also if no request succeeded). For a latency, it
     * is INFINITY if the figure is missing or was cut off. */
    double ratio;
    const char *name; /* "TTFT", ..., "error rate" */
    const char *unit; /* " ms", or "" for the error rate, which is a share */
    double value;     /* the cell's figure, in `unit` */
    double limit;     /* in `unit` */
};
/* The result is meaningful only for a cell that was measured or failed. A percentile that was cut
 * off (by a timeout, or by the cell's end) meets no limit, because the true one may be larger. */
struct slo_nearest slo_find_nearest(const struct slo *limits,
                                    const struct measurement *measurement);
