/* SPDX-License-Identifier: Apache-2.0 */
/* Finds settings that would have no effect. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if limit_percentile, think_time, ttft_timeout_s or idle_timeout_s of a new plan is not
 * its default, but has no effect, given the plan's other settings. plan_read does not check this,
 * because it must still read plans that were stored earlier. */
CHECKED bool plan_check_settings(const struct plan *plan, struct error *error);
