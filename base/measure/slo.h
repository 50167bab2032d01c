/* SPDX-License-Identifier: Apache-2.0 */
/* What answers are to keep to, as a plan states it, and how far a cell is from it. */
#pragma once

#include <jansson.h>

#include "base/measure/measurement.h"

struct slo {
    int64_t percentile;                      /* 50, 90, 95 or 99 of the four below */
    double ttft_ms, itl_ms, tpot_ms, e2e_ms; /* 0: no such limit */
    double error_rate; /* share of requests that may fail; 0: not stated, SLO_ERROR_RATE */
};
#define SLO_ERROR_RATE 0.01

/* By the members of a plan ("limit_ttft_ms", ...); what is missing is no limit. */
void slo_from_plan(const json_t *plan, struct slo *out);
bool slo_are_stated(const struct slo *limits);

/* The limit that a cell is nearest to, or is the farthest over. */
struct slo_nearest {
    double ratio;     /* of the figure to its limit: up to 1 it is met; INFINITY: no request
                         succeeded, too many failed, or there is no such figure */
    const char *name; /* "TTFT", ..., "error rate" */
    const char *unit; /* " ms" or "" */
    double value, limit;
};
/* Of a cell that was measured or failed. A percentile that was cut off by a timeout meets no limit:
 * the true one is greater. */
struct slo_nearest slo_find_nearest(const struct slo *limits,
                                    const struct measurement *measurement);
