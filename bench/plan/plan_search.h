/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a plan's limits, and says which levels of load an estimate includes. Private to bench/. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if the plan has a limit that a cell could never meet. */
CHECKED bool plan_check_limits(const struct plan *plan, struct error *error);
/* Whether the upper bounds of an estimate include this level. A full grid includes every level;
 * another search measures at most search_most levels, so its estimate includes that many of the
 * largest, which cost most. */
bool plan_search_includes_level(const struct plan *plan, size_t level);
