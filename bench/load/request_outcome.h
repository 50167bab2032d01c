/* SPDX-License-Identifier: Apache-2.0 */
/* How a request ended: its class of failure, and one sentence about it. */
#pragma once

#include "bench/load/virtual_user.h"

/* From what was received and how the exchange ended; a failure that was set before stays. */
enum failure request_outcome_reach(const struct virtual_user *connection);
/* Puts into request->said our finding, else what the server said, else what the transfer says: text
 * that can be shown, and never the credential. "" where it succeeded. */
void request_outcome_explain(struct virtual_user *connection);
