/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast the load generator can read on this machine, using a loopback server in this
 * process. The result is kept for later sweeps, because a measurement occupies two cores for about
 * a second. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"

struct ceiling {
    int64_t streams;     /* how many were read at the same time */
    double chunks_per_s; /* read by one load thread, as fast as they arrived */
    /* Percent of a core that the load thread used. If it is below 85, the loopback server was the
     * bottleneck. */
    double cpu_percent;
    double lag_p99_ms;   /* 99th percentile of how late bytes were read or timers were handled */
    int64_t measured_ms; /* UTC; 0: not measured yet */
};

struct calibration; /* thread safe */

struct calibration *calibration_create(void);
void calibration_destroy(struct calibration *calibration); /* does nothing for NULL */
/* Returns the ceiling, which the first call measures while other callers wait. Only the call that
 * measures calls `stopped`, about 20 times a second: CANCELLED if it returns true. BUSY if the
 * ceiling cannot be measured now. After a failure, the next call measures again. */
CHECKED bool calibration_get(struct calibration *calibration, bool (*stopped)(void *context),
                             void *context, struct ceiling *out, struct error *error);
