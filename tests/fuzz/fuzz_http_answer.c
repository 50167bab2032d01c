/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reader of HTTP answers: it reports the same head, body and end however the bytes are
 * split, and never consumes more bytes than it was given. */
#include <string.h>

#include "base/core/text.h"
#include "bench/load/http_answer.h"
#include "tests/fuzz/fuzz.h"

static void on_head(void *context, long status, const char *content_type)
{
    must(status >= 200 && status <= 999);
    must(strlen(content_type) < 64);
    text_addf(context, "<%ld %s>", status, content_type);
}

static bool on_body(void *context, const char *bytes, size_t length)
{
    must(length > 0);
    text_add_bytes(context, bytes, length);
    return true;
}

static void read_answer(const uint8_t *data, size_t size, size_t piece, struct text *out)
{
    static const struct http_answer_listener listener = { on_head, on_body };
    struct http_answer answer;
    enum http_answer_end end = HTTP_ANSWER_OPEN;
    size_t taken, all = 0;

    http_answer_begin(&answer);
    for (size_t at = 0; at < size && end == HTTP_ANSWER_OPEN; at += piece) {
        size_t length = size - at < piece ? size - at : piece;

        end = http_answer_feed(&answer, (const char *)data + at, length, &taken, &listener, out);
        must(taken <= length && (taken == length || end != HTTP_ANSWER_OPEN));
        all += taken;
    }
    if (end == HTTP_ANSWER_OPEN)
        end = http_answer_close(&answer);
    must((end == HTTP_ANSWER_WRONG) == (answer.wrong != NULL));
    text_addf(out, " %d", end);
    if (end == HTTP_ANSWER_WHOLE)
        text_addf(out, " %zu %d", all, answer.keeps_open);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TEXT_AUTO whole = { 0 };
    TEXT_AUTO split = { 0 };

    read_answer(data, size, size > 0 ? size : 1, &whole);
    read_answer(data, size, 1 + (size > 0 ? data[size - 1] % 7 : 0), &split);
    must(whole.length == split.length && memcmp(whole.data, split.data, whole.length) == 0);
    return 0;
}
