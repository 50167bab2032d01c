/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the members of a plan that determine its requests, and writes them into fingerprints and
 * requests. */
#pragma once

#include "base/core/text.h"
#include "bench/plan/plan.h"

/* INVALID if these members cannot be combined. */
CHECKED bool plan_check_workload(const struct plan *plan, struct error *error);
/* Returns an object with those of the members that are part of a sweep's fingerprint. New
 * reference. */
json_t *plan_workload_specification(const struct plan *plan);
/* Appends the sampling settings as members of a JSON object, without a comma before the first. */
void plan_sampling(const struct plan *plan, struct text *out);
/* Whether the plan has sampling settings that not every server supports: any besides the
 * temperature. */
bool plan_has_sampling(const struct plan *plan);
