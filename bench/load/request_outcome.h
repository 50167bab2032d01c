/* How a request ended: its class of failure, and one sentence about it. */
#pragma once

#include "bench/load/virtual_user.h"

/* From what was received and how the exchange ended; a failure that was set before stays. */
enum failure verdict_reach(const struct connection *connection);
/* Puts into request->said our finding, else what the server said, else what the transfer says: text
 * that can be shown, and never the credential. "" where it succeeded. */
void verdict_explain(struct connection *connection);
