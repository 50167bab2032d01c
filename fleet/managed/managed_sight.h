/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a managed deployment: what the provider shows, and what that means. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_sight {
    bool changed;    /* state, problem or drift is another than at the last look */
    bool is_trouble; /* it is not as a plan left it */
    char sentence[400];
};

/* The row's state, by what was seen; static. Where the platform ended it at its time, it is gone as
 * was planned; where something else did, it failed: a person closes its record with
 * deployment_destroy. */
const char *managed_sight_state(const struct fleet_managed_row *row,
                                const struct observed *observed, int64_t now_ms);
/* Whether what was seen on a target, with the row's name, is what the row manages: another may have
 * its name in another place. Where an id is not known, it is. */
bool managed_sight_is_its(const struct fleet_managed_row *row, const char *target,
                          const struct observed *seen);
/* Observes, and stores what was seen. False: it could not be observed; that is stored too. */
CHECKED bool managed_sight_take(const struct fleet_frame *frame,
                                const struct fleet_managed_row *row, struct managed_sight *out,
                                struct error *error);
/* "replicas 1 -> 3 (changed by kubectl)": what differs from how the newest plan left it; "" for
 * nothing. */
void managed_sight_drift(const struct fleet_managed_row *row, struct text *out);
