/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the answer to GET /sim/summary: the true figures for a period of time. */
#pragma once

#include "tests/simserve/server.h"

/* Appends a JSON object for the window [from_ns, to_ns). Some members describe the window itself:
 * how many content chunks were written in it, and how many sequences were running and how many
 * requests were in the server, both averaged over time. The others describe the finished requests
 * whose first content chunk was written in the window: their number, exact quantiles of TTFT (of
 * streams only, counted from when the request was read) and of the end-to-end latency, a summary of
 * the gaps between content chunks, and the numbers of tokens. Records and chunk times that were
 * dropped to save memory are not counted. */
void summary_write(const struct server *server, int64_t from_ns, int64_t to_ns, struct text *out);
