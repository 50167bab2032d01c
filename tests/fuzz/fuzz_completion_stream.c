/* SPDX-License-Identifier: Apache-2.0 */
/* completion_stream_feed: any bytes can be read as a stream, though the stream may be broken. The
 * events are the same however the bytes are split, whether or not the text is wanted, and whatever
 * the stream read before. The fast scan (completion_scan) accepts nothing that the JSON library
 * reads differently. */
#include <string.h>

#include "base/core/text.h"
#include "base/llm/completion_scan.h"
#include "tests/fuzz/fuzz.h"

static void note_without_text(void *context, const struct completion_event *event)
{
    text_addf(context, "%d%d%d%d%d%d%d %ld %ld %ld %ld %ld %s ", event->done, event->error,
              event->has_content, event->has_reasoning, event->has_tool_call, event->has_finish,
              event->has_usage, (long)event->prompt_tokens, (long)event->completion_tokens,
              (long)event->cached_tokens, (long)event->reasoning_tokens, (long)event->token_ids,
              event->finish);
    must(event->prompt_tokens >= -1 && event->completion_tokens >= -1);
    must(event->cached_tokens >= -1 && event->reasoning_tokens >= -1 && event->token_ids >= -1);
}

static void note(void *context, const struct completion_event *event)
{
    note_without_text(context, event);
    must(event->error || (event->text != NULL) == event->has_content);
    must((event->reasoning != NULL) == event->has_reasoning);
    if (event->text != NULL)
        text_add_bytes(context, event->text, event->text_length);
    if (event->reasoning != NULL)
        text_add_bytes(context, event->reasoning, event->reasoning_length);
}

typedef void each_fn(void *context, const struct completion_event *event);

static void read_with(struct completion_stream *stream, const uint8_t *data, size_t size,
                      size_t piece, each_fn *each, struct text *out)
{
    bool good = true;

    for (size_t at = 0; at < size && good; at += piece)
        good = completion_stream_feed(stream, (const char *)data + at,
                                      size - at < piece ? size - at : piece, each, out);
    good = good && completion_stream_end(stream, each, out);
    text_add(out, good ? "good" : "broken");
}

static void read_stream(const uint8_t *data, size_t size, size_t piece, struct text *out)
{
    struct completion_stream *stream = completion_stream_create(true);
    TEXT_AUTO again = { 0 };

    read_with(stream, data, size, piece, note, out);
    completion_stream_reset(stream);
    read_with(stream, data, size, piece, note, &again);
    must(again.length == out->length && memcmp(again.data, out->data, out->length) == 0);
    completion_stream_destroy(stream);
}

/* Checks that everything but the text is the same when the text is not wanted. */
static void check_without_text(const uint8_t *data, size_t size)
{
    struct completion_stream *with = completion_stream_create(true);
    struct completion_stream *without = completion_stream_create(false);
    TEXT_AUTO a = { 0 };
    TEXT_AUTO b = { 0 };

    read_with(with, data, size, size > 0 ? size : 1, note_without_text, &a);
    read_with(without, data, size, size > 0 ? size : 1, note_without_text, &b);
    must(a.length == b.length && memcmp(a.data, b.data, a.length) == 0);
    completion_stream_destroy(with);
    completion_stream_destroy(without);
}

/* Feeds JSON that begins with '{' as two data lines. The stream must then parse it with the
 * JSON library, because the first line alone is not JSON. */
static void read_by_library(const uint8_t *data, size_t size, struct text *out)
{
    struct completion_stream *stream = completion_stream_create(true);
    TEXT_AUTO lines = { 0 };

    text_addf(&lines, "data: {\ndata: ");
    text_add_bytes(&lines, (const char *)data + 1, size - 1);
    text_add(&lines, "\n\n");
    read_with(stream, (const uint8_t *)lines.data, lines.length, lines.length, note, out);
    completion_stream_destroy(stream);
}

/* If the bytes are one line that begins with '{', and the fast scan accepts them, checks that the
 * scan found no error, end or finish reason, and that the JSON library reads the same from them. */
static void check_scan(const uint8_t *data, size_t size)
{
    struct completion_event event;
    TEXT_AUTO fast = { 0 };
    TEXT_AUTO library = { 0 };

    if (!completion_scan((const char *)data, size, true, &event) || *data != '{'
        || memchr(data, '\n', size) != NULL)
        return;
    must(!event.error && !event.done && !event.has_finish);
    note(&fast, &event);
    text_add(&fast, "good");
    read_by_library(data, size, &library);
    must(fast.length == library.length && memcmp(fast.data, library.data, fast.length) == 0);
}

/* Calls check_scan for what follows "data: " in each line. */
static void check_lines(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size, *next;

    for (const uint8_t *line = data; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (next == NULL)
            next = end;
        if (next - line > 6 && memcmp(line, "data: ", 6) == 0)
            check_scan(line + 6, (size_t)(next - line) - 6);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TEXT_AUTO whole = { 0 };
    TEXT_AUTO split = { 0 };

    read_stream(data, size, size > 0 ? size : 1, &whole);
    read_stream(data, size, 1 + (size > 0 ? data[0] % 7 : 0), &split);
    must(whole.length == split.length && memcmp(whole.data, split.data, whole.length) == 0);
    check_without_text(data, size);
    check_scan(data, size);
    check_lines(data, size);
    return 0;
}
