/* How a request ended: its class of failure, and one sentence about it. */
#pragma once

#include "bench/connection.h"

/* From what was received and the transfer's code; a failure that was set before stays. */
enum failure verdict_reach(const struct connection *connection, CURLcode code);
/* Puts into request->said our finding, else what the server said, else what libcurl says: text that
 * can be shown, and never the credential. "" where it succeeded. */
void verdict_explain(struct connection *connection, CURLcode code);
