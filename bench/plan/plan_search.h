/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a plan's limits, and says which levels of load an estimate includes. Private to bench/. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if the plan has a limit that a cell could never meet. */
CHECKED bool plan_check_limits(const struct plan *plan, struct error *error);
/* Whether the estimate of a plan, which is an upper bound, includes this level of load. For a full
 * grid it includes every level. Other searches measure at most search_most levels, so their
 * estimate includes that many of the largest levels, which cost most. */
bool plan_search_includes_level(const struct plan *plan, size_t level);
