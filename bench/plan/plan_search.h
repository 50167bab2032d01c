/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells of a plan are measured, and which limits are searched for. Private to bench/. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if the plan has a limit that a cell could never meet. */
CHECKED bool plan_check_limits(const struct plan *plan, struct error *error);
/* Whether the upper bounds of an estimate include this level: an adaptive search measures at most
 * search_most levels, and the largest ones cost most. */
bool plan_search_may_measure(const struct plan *plan, size_t level);
