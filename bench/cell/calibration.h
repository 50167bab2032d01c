/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine's load generator can do, found against a responder in this process: once, as
 * the first sweep begins, for it takes a second of two cores. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"

struct ceiling {
    int64_t streams;     /* that were read at once */
    double chunks_per_s; /* that one load thread read, as fast as they came */
    double cpu_percent;  /* of a core, which that took; under 85 the responder was the limit */
    double lag_p99_ms;
    int64_t measured_ms; /* UTC; 0: not known */
};

struct calibration; /* thread safe */

struct calibration *calibration_create(void);
void calibration_destroy(struct calibration *calibration); /* NULL is fine */
/* The ceiling, measured now if it was not before; others wait meanwhile. CANCELLED where `stopped`
 * says so (asked about ten times a second). BUSY where this machine cannot; nothing is kept then.
 */
CHECKED bool calibration_get(struct calibration *calibration, bool (*stopped)(void *context),
                             void *context, struct ceiling *out, struct error *error);
