/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/utf8_stream.h"

#include <string.h>

static size_t wanted_bytes(unsigned char first)
{
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 1;
}

/* Whether this is a character whose remaining bytes are missing. */
static bool is_begun(const char *bytes, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return false;
    return length < wanted_bytes((unsigned char)bytes[0]);
}

static void add_within(struct text *out, const char *bytes, size_t length, size_t limit)
{
    if (out->length + length <= limit)
        text_add_bytes(out, bytes, length);
}

void utf8_stream_add(struct utf8_stream *whole, const char *bytes, size_t length, struct text *out,
                     size_t limit)
{
    TEXT_AUTO all = { 0 };
    size_t at = 0;

    text_add_bytes(&all, whole->tail, whole->tail_length);
    text_add_bytes(&all, bytes, length);
    whole->tail_length = 0;
    while (at < all.length) {
        size_t size = text_utf8_sequence(all.data + at, all.length - at);

        if (size == 0 && is_begun(all.data + at, all.length - at))
            break;
        if (size == 0 || all.data[at] == '\0')
            add_within(out, "\xef\xbf\xbd", 3, limit);
        else
            add_within(out, all.data + at, size, limit);
        at += size > 0 ? size : 1;
    }
    if (at < all.length) {
        whole->tail_length = all.length - at;
        memcpy(whole->tail, all.data + at, whole->tail_length);
    }
}

void utf8_stream_end(struct utf8_stream *whole, struct text *out, size_t limit)
{
    if (whole->tail_length > 0)
        add_within(out, "\xef\xbf\xbd", 3, limit);
    whole->tail_length = 0;
}
