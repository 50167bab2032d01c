/* SPDX-License-Identifier: Apache-2.0 */
/* The first look at a deployment that was just registered or changed. */
#pragma once

#include "handlers/answer.h"

extern const struct field deployment_welcome_fields[];
/* Asks the server who it is and writes the answer of deployment_register and deployment_update. A
 * server that does not answer is no error here: it may be scaled to zero. `bound`: the origin that
 * its secret was bound to by the call, or "". */
void deployment_welcome(const struct call *call, const struct deployment *deployment, bool changed,
                        const char *bound, struct answer *answer);
