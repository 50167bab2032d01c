/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells of a plan are measured, and the limits that are looked for. Private to bench/. */
#pragma once

#include "bench/plan/plan.h"

/* What a plan says of both, beside the numbers that plan.c reads. */
CHECKED bool plan_search_read(const json_t *arguments, struct plan *plan, struct error *error);
void plan_search_to_json(const struct plan *plan, json_t *out);
/* For an upper bound: an adaptive search leaves out the smallest loads at least, which cost least.
 */
bool plan_search_may_measure(const struct plan *plan, size_t level);
