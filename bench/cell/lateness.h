/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether the client was the bottleneck: by the error that its lateness can cause in the
 * reported figures, not by the lateness itself. */
#pragma once

#include "base/measure/measurement.h"

/* Derives error_share, client_limited, client_late and machine_busy from the lags, the CPU and the
 * latencies. `is_open`: an open loop, whose TTFT counts from the schedule. */
void lateness_judge(struct measurement *out, bool is_open);
