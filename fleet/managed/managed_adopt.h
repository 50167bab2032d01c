/* SPDX-License-Identifier: Apache-2.0 */
/* Adopts a server that already exists on a target. Nothing on the platform changes. */
#pragma once

#include "fleet/managed/managed_target.h"

struct managed_adoption {
    const char *deployment;
    const struct managed_target *target;
    const char *place;               /* one of the target's places; "" if it has none */
    const struct observed *observed; /* the server's newest observation */
    const char *rights;              /* as in struct fleet_managed_row */
};

/* Returns the end that the platform has recorded for the server (UTC), for example in a label. It
 * becomes the deployment's end. Returns 0 if there is none, or if this opsbrain did not create the
 * server for a deployment with this name. */
int64_t managed_adopt_ends_ms(const struct fleet_frame *frame,
                              const struct managed_adoption *adoption);
/* Returns how the server is to end: "destroy" if the platform has recorded that or cannot stop
 * servers, otherwise "stop", which can be undone. Static. */
const char *managed_adopt_at_end(const struct managed_target *target,
                                 const struct observed *observed);
/* Stores the server as a managed deployment. CONFLICT if a deployment with its name is already
 * managed. */
CHECKED bool managed_adopt(const struct fleet_frame *frame, const struct managed_adoption *adoption,
                           struct change *change, struct error *error);
