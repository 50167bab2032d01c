/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the client was the limit: by what its being late can have done to the figures that are
 * told, not by how late it was. */
#pragma once

#include "base/measure/measurement.h"

/* From the lags, the CPU and the latencies: error_share, client_limited, client_late and
 * machine_busy. `is_open`: TTFT counts from the schedule. */
void lateness_judge(struct measurement *out, bool is_open);
