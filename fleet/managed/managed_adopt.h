/* SPDX-License-Identifier: Apache-2.0 */
/* Adopts a server that already runs on a target. Nothing on the platform changes. */
#pragma once

#include "fleet/managed/fleet_frame.h"

struct managed_adoption {
    const char *deployment, *target;
    const char *place;               /* one of the target's; "" where it has none */
    const struct observed *observed; /* its newest observation */
    const char *rights;              /* of struct fleet_managed_row */
    int64_t ends_ms;                 /* 0: no end */
    const char *at_end;              /* "" without an end */
};

/* CONFLICT where it is managed already. */
CHECKED bool managed_adopt(const struct fleet_frame *frame, const struct managed_adoption *adoption,
                           struct change *change, struct error *error);
