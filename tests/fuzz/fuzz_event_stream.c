/* SPDX-License-Identifier: Apache-2.0 */
/* event_stream_feed: the events are the same whether a stream arrives at once or byte by byte. */
#include <string.h>

#include "client/remote/event_stream.h"
#include "tests/fuzz/fuzz.h"

static bool collect(void *context, const char *data, size_t length)
{
    must(length > 0);
    text_add_bytes(context, data, length);
    text_add_char(context, '\n');
    return true;
}

static void read_in_pieces(const char *bytes, size_t size, size_t piece, struct text *out)
{
    struct event_stream stream = { 0 };

    for (size_t at = 0; at < size; at += piece)
        must(event_stream_feed(&stream, bytes + at, size - at < piece ? size - at : piece, collect,
                               out));
    event_stream_finish(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TEXT_AUTO whole = { 0 }, single = { 0 };

    read_in_pieces((const char *)data, size, size + 1, &whole);
    read_in_pieces((const char *)data, size, 1, &single);
    must(whole.length == single.length
         && memcmp(text_string(&whole), text_string(&single), whole.length) == 0);
    return 0;
}
