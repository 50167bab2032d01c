/* SPDX-License-Identifier: Apache-2.0 */
/* How a request ended: its class of failure, and one sentence about it. */
#pragma once

#include "bench/load/virtual_user.h"

/* Determines the class of failure from what was received and how the exchange ended; a failure that
 * was set before is kept. */
enum failure request_outcome_classify(const struct virtual_user *user);
/* Writes our explanation into request->failure_text; if there is none, the server's message, or
 * else the transfer's. The text is printable and does not contain the credential; "" if the request
 * succeeded. */
void request_outcome_explain(struct virtual_user *user);
