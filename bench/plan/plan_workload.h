/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a plan that determine its requests: checks them, and writes them for fingerprints
 * and for requests. */
#pragma once

#include "base/core/text.h"
#include "bench/plan/plan.h"

/* INVALID if these members cannot be combined. */
CHECKED bool plan_check_workload(const struct plan *plan, struct error *error);
/* Returns those of these members that belong to a fingerprint; new reference. */
json_t *plan_workload_specification(const struct plan *plan);
/* Appends the sampling settings as members of a request, without a comma before the first. */
void plan_sampling(const struct plan *plan, struct text *out);
/* Whether there are sampling settings besides a temperature: not every server supports them. */
bool plan_has_sampling(const struct plan *plan);
