/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a plan that determine how requests arrive: arrivals, rates, think time. Private to
 * plan_read.c. */
#pragma once

#include "bench/plan/plan.h"

/* Refuses settings of the other kind of loop. */
CHECKED bool plan_check_load(const struct plan *plan, struct error *error);
