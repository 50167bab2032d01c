/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of which nothing would come. */
#pragma once

#include "bench/plan/plan.h"

/* Refuses a new plan that states what has no effect beside its other members. No part of
 * plan_read: plans stored before read back. */
CHECKED bool plan_check_settings(const struct plan *plan, struct error *error);
