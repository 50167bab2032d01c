/* SPDX-License-Identifier: Apache-2.0 */
/* How a request ended: its class of failure, and a message that explains the failure. */
#pragma once

#include "bench/load/virtual_user.h"

/* Determines the class of failure from what was received and how the exchange ended. If
 * request->failure is already set, returns that. */
enum failure request_outcome_classify(const struct virtual_user *user);
/* Writes an explanation of the failure to request->failure_text: our own if there is one, else the
 * server's message, else the transfer's. The text is printable and does not contain the credential;
 * "" if the request succeeded. */
void request_outcome_explain(struct virtual_user *user);
