/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a plan that determine how requests arrive: arrivals, rates, think time. Private to
 * plan_read.c. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if the plan has settings that only the other kind of loop uses, or lacks some. */
CHECKED bool plan_check_load(const struct plan *plan, struct error *error);
