/* SPDX-License-Identifier: Apache-2.0 */
/* Records what the events of a stream say about the request. */
#pragma once

#include "base/llm/completion_stream.h"
#include "bench/load/tally.h"

/* Updates the request and the tally. `request->bytes_ns` must be the time at which the event's
 * bytes were read. */
void stream_events_record(struct tally *tally, struct request *request,
                          const struct completion_event *event);
