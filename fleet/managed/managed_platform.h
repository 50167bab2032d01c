/* SPDX-License-Identifier: Apache-2.0 */
/* What the platform shows about a deployment's server, for the fingerprints of its measurements. */
#pragma once

#include "fleet/managed/fleet_frame.h"
#include "store/ledger/deployments.h"

/* Returns {"image", "image_digest", "command", "args", "machine", "region", "zone", "replicas"}
 * as the platform shows them now or, if it does not answer, as it showed them last. Omits what
 * the platform does not show. Returns NULL if opsbrain does not manage the server at the
 * deployment's address, or if the store fails, which is logged. New reference. */
json_t *managed_platform(const struct fleet_frame *frame, const struct deployment *deployment);
