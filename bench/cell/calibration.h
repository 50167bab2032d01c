/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine's load generator can do, measured with a loopback server in this process. It
 * runs once, when the first sweep begins, because it occupies two cores for a second. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"

struct ceiling {
    int64_t streams;     /* streams read at once */
    double chunks_per_s; /* read by one load thread, as fast as they arrived */
    double cpu_percent;  /* of a core, used for that; below 85 the loopback server was the
                          * bottleneck */
    double lag_p99_ms;
    int64_t measured_ms; /* UTC; 0: not known */
};

struct calibration; /* thread safe */

struct calibration *calibration_create(void);
void calibration_destroy(struct calibration *calibration); /* does nothing for NULL */
/* The ceiling, measured now if it was not before; other callers wait meanwhile. CANCELLED if
 * `stopped` returns true (called about ten times a second). BUSY if this machine cannot measure it;
 * nothing is kept then */
CHECKED bool calibration_get(struct calibration *calibration, bool (*stopped)(void *context),
                             void *context, struct ceiling *out, struct error *error);
