/* SPDX-License-Identifier: Apache-2.0 */
#include "client/remote/event_stream.h"

/* Adds the line's data. Comments, and fields other than data, are ignored. */
static void add_data(struct event_stream *stream)
{
    const char *line = text_string(&stream->line);

    if (strncmp(line, "data:", 5) != 0)
        return;
    line += line[5] == ' ' ? 6 : 5;
    if (stream->data.length > 0)
        text_add_char(&stream->data, '\n');
    text_add(&stream->data, line);
}

/* An empty line ends an event. */
static bool end_line(struct event_stream *stream, event_stream_handle *handle, void *context)
{
    bool go_on = true;

    if (stream->line.length > 0)
        add_data(stream);
    else if (stream->data.length > 0) {
        go_on = handle(context, stream->data.data, stream->data.length);
        text_clear(&stream->data);
    }
    text_clear(&stream->line);
    return go_on;
}

bool event_stream_feed(struct event_stream *stream, const char *bytes, size_t length,
                       event_stream_handle *handle, void *context)
{
    for (size_t i = 0; i < length; i++) {
        bool ends_crlf = bytes[i] == '\n' && stream->after_return;

        stream->after_return = bytes[i] == '\r';
        if (bytes[i] != '\n' && bytes[i] != '\r')
            text_add_char(&stream->line, bytes[i]);
        else if (!ends_crlf && !end_line(stream, handle, context))
            return false;
    }
    return true;
}

void event_stream_finish(struct event_stream *stream)
{
    text_finish(&stream->line);
    text_finish(&stream->data);
}
