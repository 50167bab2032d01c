/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the answer to GET /sim/summary: the true figures of a window of time. */
#pragma once

#include "tests/simserve/server.h"

/* Appends a JSON object. About the finished requests whose first content chunk was written in the
 * window [from_ns, to_ns), it has their number, exact quantiles of TTFT (streams only, from the
 * moment when the request was read) and of the end-to-end latency, a summary of the gaps between
 * content chunks, and the numbers of tokens. About the window itself, it has the number of content
 * chunks written in it, and the averages over time of the running sequences and of the requests in
 * the server. Records and chunk times that were dropped to save memory are not counted. */
void summary_write(const struct server *server, int64_t from_ns, int64_t to_ns, struct text *out);
