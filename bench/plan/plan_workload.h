/* SPDX-License-Identifier: Apache-2.0 */
/* What of a plan says how its requests are made: checked, and written where others read it. */
#pragma once

#include "base/core/text.h"
#include "bench/plan/plan.h"

/* Members that do not go together, told with what to do about it. */
CHECKED bool plan_check_workload(const struct plan *plan, struct error *error);
/* The members that say so, for a fingerprint; new reference. */
json_t *plan_workload_specification(const struct plan *plan);
/* The sampling settings as members of a request, without a comma before the first. */
void plan_sampling(const struct plan *plan, struct text *out);
/* Is any of them more than a temperature? Not every server knows those. */
bool plan_has_sampling(const struct plan *plan);
