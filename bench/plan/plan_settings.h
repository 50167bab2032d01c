/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that would have no effect. */
#pragma once

#include "bench/plan/plan.h"

/* Refuses a new plan with a setting that has no effect beside its other settings. It is not part of
 * plan_read, which must still read plans that were stored earlier. */
CHECKED bool plan_check_settings(const struct plan *plan, struct error *error);
