/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a managed deployment: what the provider shows, and what that means. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_sight {
    bool changed;    /* state, problem or drift differs from the last look */
    bool is_trouble; /* it differs from how a plan left it */
    char sentence[400];
};

/* The row's state after what was observed; static. If the platform ended it at its time, it is gone
 * as planned; if something else ended it, it has failed, and a person closes its record with
 * deployment_destroy. */
const char *managed_sight_state(const struct fleet_managed_row *row,
                                const struct observed *observed, int64_t now_ms);
/* Whether a resource with the row's name is the one that the row manages: another one may have that
 * name in another place. True if an id is not known. */
bool managed_sight_is_its(const struct fleet_managed_row *row, const char *target,
                          const struct observed *seen);
/* Observes it and stores the result. False: it could not be observed; that is stored, too. */
CHECKED bool managed_sight_take(const struct fleet_frame *frame,
                                const struct fleet_managed_row *row, struct managed_sight *out,
                                struct error *error);
/* "replicas 1 -> 3 (changed by kubectl)": what differs from how the newest plan left it; "":
 * nothing. */
void managed_sight_drift(const struct fleet_managed_row *row, struct text *out);
