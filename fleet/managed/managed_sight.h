/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a managed deployment: what the provider shows, and what that means. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_sight {
    bool changed;    /* state, problem or drift is another than at the last look */
    bool is_trouble; /* it is not as a plan left it */
    char sentence[400];
};

/* Observes, and stores what was seen. False: it could not be observed; that is stored too. */
CHECKED bool managed_sight_take(const struct fleet_frame *frame,
                                const struct fleet_managed_row *row, struct managed_sight *out,
                                struct error *error);
/* "replicas 1 -> 3 (changed by kubectl)": what differs from how the newest plan left it; "" for
 * nothing. */
void managed_sight_drift(const struct fleet_managed_row *row, struct text *out);
