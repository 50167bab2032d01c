/* SPDX-License-Identifier: Apache-2.0 */
/* GET /sim/summary: the true figures of a window of time. */
#pragma once

#include "tests/simserve/server.h"

/* Over finished requests whose first content write lies in [from_ns, to_ns): exact quantiles of
 * TTFT (streams: first content write - request read) and end to end, gaps between content chunks,
 * tokens. Over the window: content chunks and tokens written in it, and the time averages of
 * sequences running and of requests in the server. */
void summary_write(const struct server *server, int64_t from_ns, int64_t to_ns, struct text *out);
