/* SPDX-License-Identifier: Apache-2.0 */
/* Checks one managed deployment: observes it, and judges what the provider shows. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_check {
    bool changed;       /* state, problem or drift differs from the last check */
    bool is_trouble;    /* the deployment failed, or has drifted (managed_check_drift) */
    char sentence[400]; /* the result in words, for users */
};

/* Returns the row's state after this observation. A server that no longer exists is "gone" if
 * it was to be destroyed by now; if not, it is "failed", and the deployment remains managed.
 * Static. */
const char *managed_check_state(const struct fleet_managed_row *row,
                                const struct observed *observed, int64_t now_ms);
/* `resource` has the row's name and is on `target`. Returns true if it is the server that the row
 * manages: if its target and place are those of the row, or if its uid is the one in the row's
 * newest observation. A place or uid that is not known counts as equal. */
bool managed_check_is_same(const struct fleet_managed_row *row, const char *target,
                           const struct observed *resource);
/* Observes the deployment and stores the result. Returns false if the deployment cannot be observed
 * (the reason is then stored as its problem) or if the result cannot be stored. */
CHECKED bool managed_check_run(const struct fleet_frame *frame, const struct fleet_managed_row *row,
                               struct managed_check *out, struct error *error);
/* Appends the drift, such as "replicas 1 -> 3 (last changed by kubectl)". Drift is what has changed
 * since the last plan was carried out. */
void managed_check_drift(const struct fleet_managed_row *row, struct text *out);
