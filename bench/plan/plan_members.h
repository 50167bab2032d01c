/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from JSON, and writes as JSON, those members of a plan that plan_parameters.h lists.
 * Private to bench/plan/. */
#pragma once

#include "bench/plan/plan.h"

/* Sets each member to the given value, else to its default; a member with neither keeps its value
 * in *plan. INVALID if a value has the wrong type, is out of range, or is not one of the
 * choices; the members listed before the refused one are then already set. */
CHECKED bool plan_members_read(const json_t *arguments, struct plan *plan, struct error *error);
/* Whether the member `name` has its default value. */
bool plan_members_is_default(const struct plan *plan, const char *name);
/* The members that plan_parameters.h lists, as an object. New reference. */
json_t *plan_members_to_json(const struct plan *plan);
