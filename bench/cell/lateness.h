/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether the client, which is the load generator, was the bottleneck. Lateness is judged
 * by the error that it can cause in the reported figures. */
#pragma once

#include "base/measure/measurement.h"

/* Derives error_share, client_limited, client_late and machine_busy from the lags, the use of
 * the CPU, the latencies and the failures. `is_open`: an open loop, whose TTFT counts from the
 * schedule. */
void lateness_judge(struct measurement *out, bool is_open);
