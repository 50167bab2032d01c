/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a plan that say how the load comes: arrivals, rates, think time. Private to
 * plan.c. */
#pragma once

#include "bench/plan/plan.h"

/* Reads them; `concurrency` and the window are read already. */
CHECKED bool plan_load_read(const json_t *arguments, struct plan *plan, struct error *error);
void plan_load_to_json(const struct plan *plan, json_t *json);
/* Which arrivals the arguments ask for; CLOSED where they say nothing. */
CHECKED bool plan_arrival_read(const json_t *arguments, enum arrival *out, struct error *error);
