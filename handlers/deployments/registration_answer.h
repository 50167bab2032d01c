/* SPDX-License-Identifier: Apache-2.0 */
/* The first check of a deployment that was just registered or changed. */
#pragma once

#include "handlers/answer.h"

extern const struct field registration_answer_fields[];
/* Probes the server and writes the answer of deployment_register and deployment_update. A server
 * that does not answer is not an error here: it may be scaled to zero. `bound`: the origin to which
 * the call bound its secret, or "". */
void registration_answer(const struct call *call, const struct deployment *deployment, bool changed,
                         const char *bound, struct answer *answer);
