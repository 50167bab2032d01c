/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/utf8_stream.h"

#include <string.h>

static size_t sequence_length(unsigned char first)
{
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 1;
}

/* Returns true if these bytes look like a character whose last bytes are missing. */
static bool is_incomplete(const char *bytes, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return false;
    return length < sequence_length((unsigned char)bytes[0]);
}

static void add_within(struct text *out, const char *bytes, size_t length, size_t limit)
{
    if (out->length + length <= limit)
        text_add_bytes(out, bytes, length);
}

void utf8_stream_add(struct utf8_stream *stream, const char *bytes, size_t length, struct text *out,
                     size_t limit)
{
    TEXT_AUTO joined = { 0 };
    size_t at = 0;

    text_add_bytes(&joined, stream->tail, stream->tail_length);
    text_add_bytes(&joined, bytes, length);
    stream->tail_length = 0;
    while (at < joined.length) {
        size_t size = text_utf8_sequence(joined.data + at, joined.length - at);

        if (size == 0 && is_incomplete(joined.data + at, joined.length - at))
            break;
        if (size == 0 || joined.data[at] == '\0')
            add_within(out, "\xef\xbf\xbd", 3, limit);
        else
            add_within(out, joined.data + at, size, limit);
        at += size > 0 ? size : 1;
    }
    if (at < joined.length) {
        stream->tail_length = joined.length - at;
        memcpy(stream->tail, joined.data + at, stream->tail_length);
    }
}

void utf8_stream_end(struct utf8_stream *stream, struct text *out, size_t limit)
{
    if (stream->tail_length > 0)
        add_within(out, "\xef\xbf\xbd", 3, limit);
    stream->tail_length = 0;
}
