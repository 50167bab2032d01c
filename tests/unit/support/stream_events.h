/* SPDX-License-Identifier: Apache-2.0 */
/* Reads completion streams, and writes each event as a line that tests can compare. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/llm/completion_stream.h"

/* Writes an event as one line. */
static void write_event(void *context, const struct completion_event *event)
{
    struct text *out = context;

    text_addf(out, "%s%s%s%s%s", event->done ? "done " : "", event->error ? "error " : "",
              event->has_content ? "content " : "", event->has_reasoning ? "reasoning " : "",
              event->has_tool_call ? "call " : "");
    if (event->has_finish)
        text_addf(out, "finish=%s ", event->finish);
    if (event->has_usage)
        text_addf(out, "usage=%ld,%ld,%ld ", event->prompt_tokens, event->completion_tokens,
                  event->cached_tokens);
    if (event->reasoning_tokens >= 0)
        text_addf(out, "thought=%ld ", event->reasoning_tokens);
    if (event->token_ids >= 0)
        text_addf(out, "ids=%ld ", event->token_ids);
    if (event->text != NULL)
        text_addf(out, "[%.*s]", (int)event->text_length, event->text);
    if (event->reasoning != NULL)
        text_addf(out, "<%.*s>", (int)event->reasoning_length, event->reasoning);
    text_add_char(out, '\n');
}

/* Reads `bytes` in pieces of `piece` bytes. If the stream cannot be read, stops there and adds
 * "broken\n". */
static void read_in_pieces(const char *bytes, size_t length, size_t piece, bool want_text,
                           struct text *out)
{
    struct completion_stream *stream = completion_stream_create(want_text);
    bool good = true;

    for (size_t at = 0; at < length && good; at += piece) {
        size_t count = length - at < piece ? length - at : piece;
        char *copy = memory_zeroed(count, 1); /* so that AddressSanitizer notices reads beyond it */

        memcpy(copy, bytes + at, count);
        good = completion_stream_feed(stream, copy, count, write_event, out);
        free(copy);
    }
    if (!good || !completion_stream_end(stream, write_event, out))
        text_add(out, "broken\n");
    completion_stream_destroy(stream);
}
