/* SPDX-License-Identifier: Apache-2.0 */
/* Finds settings that would have no effect. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if a new plan sets limit_percentile, think_time, ttft_timeout_s or idle_timeout_s to a
 * value other than the default, but the plan's other settings leave it without effect. plan_read
 * does not check this, because it must still read plans that were stored earlier. */
CHECKED bool plan_check_settings(const struct plan *plan, struct error *error);
