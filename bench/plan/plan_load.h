/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the members of a plan that determine how requests arrive, and the window's limit. Private
 * to plan_read.c. */
#pragma once

#include "bench/plan/plan.h"

/* INVALID if request_rate, burstiness or think_time_s is given (and is not its default), but the
 * kind of arrival does not use it; if an open loop has no rates, or several values of concurrency;
 * or if window_limit_s is given and below window_s. */
CHECKED bool plan_check_load(const struct plan *plan, struct error *error);
