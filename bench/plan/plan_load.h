/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a plan that determine how requests arrive: arrivals, rates, think time. Private to
 * plan_read.c. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if the plan has a setting that its arrivals do not use, if an open loop has no rates, or
 * if window_limit_s is below window_s. */
CHECKED bool plan_check_load(const struct plan *plan, struct error *error);
