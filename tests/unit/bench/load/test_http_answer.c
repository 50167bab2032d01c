/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.0 and HTTP/1.1 answers are read the same way however their bytes are split, and are
 * refused if they are invalid or not supported. */
#include "bench/load/http_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/text.h"

#define STREAM "Content-Type: text/event-stream; charset=utf-8\r\n"

struct reading {
    struct text received; /* the head as "<200 type>", then the bytes of the body */
    struct http_answer answer;
    enum http_answer_end end;
    size_t taken;
    size_t limit; /* the listener returns false once `received` has this many bytes; 0: never */
};

static void on_head(void *context, long status, const char *content_type)
{
    struct reading *reading = context;

    text_addf(&reading->received, "<%ld %s>", status, content_type);
}

static bool on_body(void *context, const char *bytes, size_t length)
{
    struct reading *reading = context;

    assert_true(length > 0);
    text_add_bytes(&reading->received, bytes, length);
    return reading->limit == 0 || reading->received.length < reading->limit;
}

static const struct http_answer_listener listener = { on_head, on_body };

static void feed(struct reading *reading, const char *bytes, size_t length)
{
    size_t taken;

    if (reading->end != HTTP_ANSWER_OPEN)
        return;
    reading->end = http_answer_feed(&reading->answer, bytes, length, &taken, &listener, reading);
    assert_true(taken <= length);
    reading->taken += taken;
}

/* Reads the answer in pieces, the first of `first` bytes and the others of `piece` bytes. Then the
 * connection closes. */
static struct reading read_pieces(const char *bytes, size_t length, size_t first, size_t piece)
{
    struct reading reading = { .end = HTTP_ANSWER_OPEN };

    http_answer_begin(&reading.answer);
    feed(&reading, bytes, first);
    for (size_t at = first; at < length; at += piece)
        feed(&reading, bytes + at, length - at < piece ? length - at : piece);
    if (reading.end == HTTP_ANSWER_OPEN)
        reading.end = http_answer_close(&reading.answer);
    return reading;
}

struct expectation {
    const char *bytes, *received;
    bool keeps_open;
    enum http_answer_end end;
    size_t rest; /* bytes after the answer */
};

static const struct expectation answers[] = {
    { "HTTP/1.1 200 OK\r\n" STREAM "Transfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n1;name=\"value\"\r\n \r\n00a \r\n0123456789\r\n0\r\n\r\n",
      "<200 text/event-stream; charset=utf-8>hello 0123456789", true, HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 200 OK\r\ntransfer-encoding:CHUNKED\r\n\r\nA\r\n0123456789\r\n0\r\n"
      "Trailer: yes\r\nAnother: one\r\n\r\n",
      "<200 >0123456789", true, HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 200\nTransfer-Encoding: chunked\n\n3\nabc\n0\n\n", "<200 >abc", true,
      HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 404 Not Found\r\nContent-Length:  7 \r\nConnection: keep-alive, "
      "close\r\n\r\nmissing",
      "<404 >missing", false, HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\nmore", "<500 >", true, HTTP_ANSWER_WHOLE, 4 },
    { "HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok", "<200 >ok", true,
      HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 200 OK\r\nContent-Type: a\r\n\r\nuntil it closes", "<200 a>until it closes", false,
      HTTP_ANSWER_WHOLE },
    { "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", "<200 >x", false, HTTP_ANSWER_WHOLE },
    { "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\nx", "<200 >x", true,
      HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: "
      "9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "<200 >ok", true, HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 204 None\r\nContent-Length: 9\r\n\r\n", "<204 >", true, HTTP_ANSWER_WHOLE },
    /* A server that sends both headers cannot be trusted with another answer. */
    { "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: "
      "chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      "<200 >x", false, HTTP_ANSWER_WHOLE },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
      "Content-Encoding: identity\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      "<200 >x", false, HTTP_ANSWER_WHOLE }, /* a proxy repeated the server's header */
    /* Answers that are cut off. */
    { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour", "<200 >four", true, HTTP_ANSWER_OPEN },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfour", "<200 >four", true,
      HTTP_ANSWER_OPEN },
    { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n", "<200 >four", true,
      HTTP_ANSWER_OPEN },
    { "HTTP/1.1 200 OK\r\nContent-", "", false, HTTP_ANSWER_OPEN },
};

static void check(const struct expectation *expected, const struct reading *reading, size_t length)
{
    if (strcmp(text_string(&reading->received), expected->received) != 0
        || reading->end != expected->end)
        fail_msg("'%s': got %d '%s', expected %d '%s'", expected->bytes, reading->end,
                 text_string(&reading->received), expected->end, expected->received);
    if (expected->end == HTTP_ANSWER_WHOLE) {
        assert_int_equal(reading->answer.keeps_open, expected->keeps_open);
        assert_int_equal(reading->taken, length - expected->rest);
    }
}

static void an_answer_is_read_the_same_way_however_its_bytes_are_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        size_t length = strlen(answers[i].bytes);

        for (size_t first = 0; first < length; first++)
            for (size_t piece = 1; piece <= length; piece += length / 2) {
                struct reading reading = read_pieces(answers[i].bytes, length, first, piece);

                check(&answers[i], &reading, length);
                text_finish(&reading.received);
            }
    }
}

static const char *const wrong[] = {
    "data: {}\n\n", /* HTTP/0.9 */
    "HTTP/2 200\r\n\r\n",
    "HTTP/1.2 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 099 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
    "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 1234567890123456789\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890abcdef\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\r\n",
};

static void an_invalid_or_unsupported_answer_is_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t length = strlen(wrong[i]);

        for (size_t piece = 1; piece <= length; piece += length - 1) {
            struct reading reading = read_pieces(wrong[i], length, 0, piece);

            if (reading.end != HTTP_ANSWER_WRONG)
                fail_msg("'%s' is not refused", wrong[i]);
            assert_true(strlen(reading.answer.wrong) > 10);
            text_finish(&reading.received);
        }
    }
}

/* Reads an answer that consists of `before`, `filler` repeated `count` times, and `after`. */
static enum http_answer_end read_long(const char *before, char filler, size_t count,
                                      const char *after, size_t piece)
{
    TEXT_AUTO bytes = { 0 };
    struct reading reading;

    text_add(&bytes, before);
    for (size_t i = 0; i < count; i++)
        text_add_char(&bytes, filler);
    text_add(&bytes, after);
    reading = read_pieces(bytes.data, bytes.length, 0, piece);
    text_finish(&reading.received);
    return reading.end;
}

static void all_parts_of_an_answer_except_its_body_are_limited_in_length(void **state)
{
    static const char rest[] = "\r\nContent-Length: 2\r\n\r\nok";
    static const char chunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    (void)state;
    for (size_t piece = 1; piece < 100000; piece += 99998) {
        assert_int_equal(read_long("HTTP/1.1 200 OK\r\nX: ", 'x', 60000, rest, piece),
                         HTTP_ANSWER_WHOLE);
        assert_int_equal(read_long("HTTP/1.1 200 OK\r\nX: ", 'x', 66000, rest, piece),
                         HTTP_ANSWER_WRONG);
        assert_int_equal(read_long("HTTP/1.1 200 OK\r\nX:", '\n', 1, "", piece), HTTP_ANSWER_OPEN);
        assert_int_equal(
            read_long("HTTP/1.1 200 OK\r\nContent-Length: ", ' ', 500, "2\r\n\r\nok", piece),
            HTTP_ANSWER_WRONG); /* only the start of a long line is kept, so the value is unknown */
        assert_int_equal(read_long("HTTP/1.1 200 OK\r\nContent-Type: ", 'x', 500, rest, piece),
                         HTTP_ANSWER_WHOLE);
        assert_int_equal(read_long(chunked, '0', 16, "\r\n\r\n", piece), HTTP_ANSWER_WRONG);
        TEXT_AUTO last_chunk = { 0 };
        text_addf(&last_chunk, "%s0;", chunked);
        assert_int_equal(read_long(last_chunk.data, 'x', 4000, "\r\n\r\n", piece),
                         HTTP_ANSWER_WHOLE);
        assert_int_equal(read_long(last_chunk.data, 'x', 5000, "\r\n\r\n", piece),
                         HTTP_ANSWER_WRONG);
        text_addf(&last_chunk, "\r\n"); /* trailers follow */
        assert_int_equal(read_long(last_chunk.data, 'x', 66000, "\r\n\r\n", piece),
                         HTTP_ANSWER_WRONG);
    }
}

static void a_listener_that_returns_false_is_not_called_again(void **state)
{
    static const char bytes[] = "HTTP/1.1 200 OK\r\n\r\nabcdefgh";
    struct reading reading = { .end = HTTP_ANSWER_OPEN, .limit = 10 };

    (void)state;
    http_answer_begin(&reading.answer);
    for (size_t i = 0; i < sizeof bytes - 1; i++)
        feed(&reading, bytes + i, 1);
    assert_int_equal(reading.end, HTTP_ANSWER_STOPPED);
    assert_string_equal(reading.received.data, "<200 >abcd");
    text_finish(&reading.received);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_read_the_same_way_however_its_bytes_are_split),
        cmocka_unit_test(an_invalid_or_unsupported_answer_is_refused_with_a_reason),
        cmocka_unit_test(all_parts_of_an_answer_except_its_body_are_limited_in_length),
        cmocka_unit_test(a_listener_that_returns_false_is_not_called_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
