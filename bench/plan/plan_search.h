/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells of a plan are measured, and which limits are searched for. Private to bench/. */
#pragma once

#include "bench/plan/plan.h"

/* Refuses limits that no cell of the plan could meet. */
CHECKED bool plan_check_limits(const struct plan *plan, struct error *error);
/* For an upper bound: an adaptive search skips at least the smallest loads, which cost least.
 */
bool plan_search_may_measure(const struct plan *plan, size_t level);
