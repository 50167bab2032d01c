/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a stream of events (text/event-stream) in pieces of any size, and passes on the data of
 * each event. */
#pragma once

#include "base/core/text.h"

struct event_stream {
    struct text line;  /* the current line so far */
    struct text data;  /* the current event's data so far */
    bool after_return; /* the last byte was a CR, which ended a line; an LF after it is ignored */
};

/* Called with the data of each event whose data is not empty; returns false to stop reading. */
typedef bool event_stream_handle(void *context, const char *data, size_t length);

/* Reads the next piece. False if `handle` stopped it. */
bool event_stream_feed(struct event_stream *stream, const char *bytes, size_t length,
                       event_stream_handle *handle, void *context);
void event_stream_finish(struct event_stream *stream);
