/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast the load generator can read on this machine, with a loopback server in this
 * process. That happens once, when the first sweep begins, because it occupies two cores for a
 * second. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"

struct ceiling {
    int64_t streams;     /* streams read at once */
    double chunks_per_s; /* read by one load thread, as fast as they arrived */
    double cpu_percent;  /* percent of a core used for that; below 85 the loopback server was the
                            bottleneck */
    double lag_p99_ms;
    int64_t measured_ms; /* UTC; 0: not known */
};

struct calibration; /* thread safe */

struct calibration *calibration_create(void);
void calibration_destroy(struct calibration *calibration); /* does nothing for NULL */
/* Returns the ceiling, and measures it first if necessary; other callers wait meanwhile. CANCELLED
 * if `stopped` returns true (it is called about ten times a second). BUSY if it cannot be measured
 * here; the next call then tries again. */
CHECKED bool calibration_get(struct calibration *calibration, bool (*stopped)(void *context),
                             void *context, struct ceiling *out, struct error *error);
