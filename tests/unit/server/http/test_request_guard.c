/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/text.h"
#include "server/http/request_guard.h"

#define BYTES(text) (text), sizeof(text) - 1
#define GET "GET /health HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"
#define GOOD GET HOST "\r\n"
#define POST "POST /mcp HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

struct sample {
    const char *bytes;
    size_t size;
    unsigned status; /* 0: no fault */
    unsigned passed; /* number of complete requests, up to the fault if there is one */
};

/* Gives the guard the bytes in pieces of `piece` bytes. *good: how many of them it passes on. */
static struct request_guard check_in_pieces(const char *bytes, size_t size, size_t piece,
                                            size_t *good)
{
    struct request_guard guard = { 0 };

    *good = 0;
    for (size_t at = 0; at < size && guard.fault == NULL; at += piece) {
        size_t here = size - at < piece ? size - at : piece;

        *good += request_guard_check(&guard, bytes + at, here);
    }
    return guard;
}

/* Gives the guard bytes that end with the sample, first byte by byte, then in two pieces. The guard
 * must find the sample's fault, if there is one, and `passed` complete requests. */
static void check_sample(const struct sample *sample, const char *bytes, size_t size,
                         unsigned passed)
{
    for (size_t piece = 1; piece <= size; piece = piece == 1 ? size / 2 + 1 : piece * 2) {
        size_t good;
        struct request_guard guard = check_in_pieces(bytes, size, piece, &good);
        unsigned status = guard.fault != NULL ? guard.fault->status : 0;

        if (status != sample->status || guard.passed != passed)
            fail_msg("in pieces of %zu: got %u after %u requests, expected %u after %u: %s", piece,
                     status, (unsigned)guard.passed, sample->status, passed, sample->bytes);
        if (status == 0)
            assert_int_equal(good, size);
    }
}

/* Checks each sample alone, and after another request. */
static void check_samples(const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TEXT_AUTO after = { 0 };

        check_sample(&samples[i], samples[i].bytes, samples[i].size, samples[i].passed);
        text_add(&after, GOOD);
        text_add_bytes(&after, samples[i].bytes, samples[i].size);
        check_sample(&samples[i], after.data, after.length, samples[i].passed + 1);
    }
}

#define CHECK_SAMPLES(samples) check_samples(samples, sizeof(samples) / sizeof *(samples))

static void valid_requests_pass(void **state)
{
    static const struct sample samples[] = {
        { BYTES(GOOD), 0, 1 },
        { BYTES("\r\n\r\n" GOOD), 0, 1 },
        { BYTES("GET / HTTP/1.0\r\n\r\n"), 0, 1 },
        { BYTES("GET / HTTP/1.7\r\n\r\n"), 0, 1 },
        { BYTES("OPTIONS * HTTP/1.1\r\n\r\n"), 0, 1 },
        { BYTES("POST http://localhost:80/mcp?a=b&c HTTP/1.1\r\n" HOST "\r\n"), 0, 1 },
        { BYTES(GET "X:\r\nY:  \t\r\nZ: a\tb \r\n" HOST "\r\n"), 0, 1 },
        { BYTES(GET "X: \xe4\xb8\xad\r\n\r\n"), 0, 1 },
        { BYTES(GET "!#$%&'*+-.^_`|~09azAZ: \"(),/:;<=>?@[\\]{}\r\n\r\n"), 0, 1 },
        { BYTES(POST "Content-Length: 3\r\n\r\nabc"), 0, 1 },
        { BYTES(POST "content-length:\t003 \r\n\r\n\r\n:"), 0, 1 },
        { BYTES(POST "Content-Length: 0\r\n\r\n" GOOD), 0, 2 },
        { BYTES(POST "Content-Length: 3\r\n\r\nabc" POST "Content-Length: 4\r\n\r\nab"), 0, 1 },
        { BYTES(CHUNKED "3\r\nabc\r\n0\r\n\r\n"), 0, 1 },
        { BYTES(CHUNKED "0000aF;a=\"b\"; c\r\n" /* 175 */
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n0\r\nX-Sum: 7\r\n\r\n" GOOD),
          0, 2 },
        { BYTES(POST "Transfer-Encoding:CHUNKED \r\n\r\n0\r\n\r\n"), 0, 1 },
    };

    (void)state;
    CHECK_SAMPLES(samples);
}

static void malformed_request_lines_are_refused(void **state)
{
    static const struct sample samples[] = {
        { BYTES("GET  /health HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health  HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health HTTP/1.1 \r\n"), 400, 0 },
        { BYTES("GET /hea lth HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health\tHTTP/1.1\r\n"), 400, 0 },
        { BYTES(" GET /health HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health\r\n"), 400, 0 },
        { BYTES("GET\r\n"), 400, 0 },
        { BYTES("GET /hea\0lth HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health\r HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health HTTP/1.1\r\r\n"), 400, 0 },
        { BYTES("GET /health HTTP/1.1\n"), 400, 0 },
        { BYTES("\nGET /health HTTP/1.1\r\n"), 400, 0 },
        { BYTES("GET /health http/1.1\r\n"), 400, 0 },
        { BYTES("GET /health HTTP/1.10\r\n"), 400, 0 },
        { BYTES("GET /health HTTP/2.0\r\n"), 505, 0 },
        { BYTES("GET /health HTTP/0.9\r\n"), 505, 0 },
        { BYTES("G(T /health HTTP/1.1\r\n"), 400, 0 },
        /* a comma among eight bytes that are examined at once */
        { BYTES("A-,BCDEF /health HTTP/1.1\r\n"), 400, 0 },
        { BYTES("\x16\x03\x01\x02\0"), 400, 0 },
    };

    (void)state;
    CHECK_SAMPLES(samples);
}

static void malformed_header_lines_are_refused(void **state)
{
    static const struct sample samples[] = {
        { BYTES(POST "Content-Length : 44\r\n\r\n"), 400, 0 },
        { BYTES(POST "Content-Length\t: 44\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding : chunked\r\n\r\n"), 400, 0 },
        { BYTES(GET " X: a\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\r\n b\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\r\n\tb\r\n\r\n"), 400, 0 },
        { BYTES(GET "X Y: a\r\n\r\n"), 400, 0 },
        { BYTES(GET ": a\r\n\r\n"), 400, 0 },
        { BYTES(GET "X\r\n\r\n"), 400, 0 },
        { BYTES(GET "X(: a\r\n\r\n"), 400, 0 },
        { BYTES(GET "X\0: a\r\n\r\n"), 400, 0 },
        { BYTES(GET "X-,Yabcd: a\r\n\r\n"), 400, 0 },
        { BYTES(GET "abcdefgh-,-,ijkl: a\r\n\r\n"), 400, 0 },
        { BYTES(GET "X-\xe4: b\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\0b\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\0\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\0\nHost: b\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\rb\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\r\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\x7f\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\x1b[0m\r\n\r\n"), 400, 0 },
        { BYTES(GET "X: a\nY: b\r\n\r\n"), 400, 0 },
        { BYTES(GET HOST "\n"), 400, 0 },
        { BYTES(GET HOST "\r\r\n"), 400, 0 },
    };

    (void)state;
    CHECK_SAMPLES(samples);
}

static void ambiguous_or_invalid_body_lengths_are_refused(void **state)
{
    static const struct sample samples[] = {
        { BYTES(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 3\r\ncontent-length: 4\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 3, 3\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: +3\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: -3\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 0x3\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 3 3\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 3.0\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length:\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 3                                        3\r\n\r\nabc"), 400,
          0 },
        { BYTES(POST "Transfer-Encoding: chunked                               x\r\n\r\n"), 400,
          0 },
        { BYTES(POST "Content-Length: 18446744073709551619\r\n\r\nabc"), 400, 0 },
        { BYTES(POST "Content-Length: 00000000000000000000000000000000000000003\r\n\r\n"), 400, 0 },
        { BYTES(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: identity\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: xchunked\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: chunked, gzip\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: \"chunked\"\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding:\r\n\r\n"), 400, 0 },
        { BYTES(POST "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501, 0 },
        { BYTES(POST "Transfer-Encoding: chunked,chunked\r\n\r\n"), 501, 0 },
        { BYTES("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400, 0 },
    };

    (void)state;
    CHECK_SAMPLES(samples);
}

static void malformed_chunks_and_trailers_are_refused(void **state)
{
    static const struct sample samples[] = {
        { BYTES(CHUNKED "x\r\n"), 400, 0 },
        { BYTES(CHUNKED "\r\n"), 400, 0 },
        { BYTES(CHUNKED "0x3\r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "+3\r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3 \r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED " 3\r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3 ;a\r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3;a\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3;a\rb\r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3;a\0b\r\nabc\r\n"), 400, 0 },
        { BYTES(CHUNKED "3\r\nabcd\r\n"), 400, 0 },
        { BYTES(CHUNKED "3\r\nabc\n0\r\n\r\n"), 400, 0 },
        { BYTES(CHUNKED "3\r\nabc0\r\n\r\n"), 400, 0 },
        { BYTES(CHUNKED "10000000000000003\r\nabc\r\n"), 400, 0 },
        /* trailers, which follow the last chunk */
        { BYTES(CHUNKED "0\r\nX : a\r\n\r\n"), 400, 0 },
        { BYTES(CHUNKED "0\r\n X: a\r\n\r\n"), 400, 0 },
        { BYTES(CHUNKED "0\r\nContent-Length: 5\r\n\r\n"), 400, 0 },
        { BYTES(CHUNKED "0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400, 0 },
        { BYTES(CHUNKED "0\r\n\n"), 400, 0 },
    };

    (void)state;
    CHECK_SAMPLES(samples);
}

/* Checks that a head made of `begin`, `times` copies of `piece`, and `end` is too long, but that
 * its first third passes. */
static void must_be_too_long(const char *begin, const char *piece, size_t times, const char *end)
{
    TEXT_AUTO head = { 0 };
    size_t good;
    struct request_guard guard;

    text_add(&head, begin);
    for (size_t i = 0; i < times; i++)
        text_add(&head, piece);
    text_add(&head, end);
    guard = check_in_pieces(head.data, head.length, 1000, &good);
    assert_non_null(guard.fault);
    assert_int_equal(guard.fault->status, 431);
    guard = check_in_pieces(head.data, head.length / 3, 1000, &good);
    assert_null(guard.fault);
}

/* A head that is too long would take more memory than libmicrohttpd has for a connection. */
static void heads_that_are_too_long_are_refused(void **state)
{
    (void)state;
    must_be_too_long("GET /", "a", 9500, " HTTP/1.1\r\n\r\n");
    must_be_too_long("GET /?", "a&", 130, " HTTP/1.1\r\n\r\n");
    must_be_too_long(GET, "X:\r\n", 130, "\r\n");
    must_be_too_long(GET "X: ", "a", 9500, "\r\n\r\n");
    must_be_too_long(GET "Cookie: ", "a", 4700, "\r\n\r\n");
    must_be_too_long(GET "Cookie: ", "a;", 130, "\r\n\r\n");
    must_be_too_long("", "\r\n", 9500, GOOD);
    must_be_too_long(CHUNKED "0\r\n", "X:\r\n", 130, "\r\n");
}

static void a_chunk_extension_that_is_too_long_is_refused(void **state)
{
    struct request_guard guard = { 0 };
    TEXT_AUTO bytes = { 0 };

    (void)state;
    text_add(&bytes, CHUNKED "3;");
    for (int i = 0; i < 300; i++)
        text_add_char(&bytes, 'a');
    assert_int_equal(request_guard_check(&guard, bytes.data, bytes.length), 0);
    assert_int_equal(guard.fault->status, 400);
}

/* When a faulty request arrives together with earlier ones, libmicrohttpd gets the bytes of the
 * earlier requests but none of the faulty one. */
static void requests_before_a_fault_are_passed_on(void **state)
{
    static const char first[] = POST "Content-Length: 3\r\n\r\nabc", bad[] = POST "X : a\r\n\r\n";
    struct request_guard guard = { 0 };

    (void)state;
    assert_int_equal(request_guard_check(&guard, BYTES(GOOD POST "Content-Length: 3\r\n\r\nab")),
                     sizeof(GOOD POST "Content-Length: 3\r\n\r\nab") - 1);
    assert_int_equal(guard.heads, 2);
    assert_int_equal(guard.passed, 1);
    assert_int_equal(request_guard_check(&guard, BYTES("c" GOOD "GET /a b")), sizeof("c" GOOD) - 1);
    assert_int_equal(guard.passed, 3);
    assert_non_null(guard.fault);
    guard = (struct request_guard){ 0 };
    assert_int_equal(request_guard_check(&guard, first, sizeof first - 1), sizeof first - 1);
    assert_int_equal(request_guard_check(&guard, bad, sizeof bad - 1), 0);
}

/* Every control character except the tab is a fault, wherever in a request it is inserted. */
static void control_characters_are_refused_everywhere(void **state)
{
    static const char request[] =
        "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n";

    (void)state;
    for (size_t at = 1; at < sizeof request - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            TEXT_AUTO bytes = { 0 };
            struct request_guard guard = { 0 };

            if ((byte >= ' ' && byte != 0x7f) || byte == '\t')
                continue;
            text_add_bytes(&bytes, request, at);
            text_add_char(&bytes, (char)byte);
            text_add_bytes(&bytes, request + at, sizeof request - 1 - at);
            request_guard_check(&guard, bytes.data, bytes.length);
            if (guard.fault == NULL)
                fail_msg("byte %d at %zu passed", byte, at);
        }
}

/* If a head begins with the same lines as an earlier one, the guard does not check these lines
 * again, but it still checks what follows. */
static void a_request_like_the_one_before_is_checked_where_it_differs(void **state)
{
    static const char first[] = POST "Accept: */*\r\nContent-Length: 2\r\n\r\nhi";
    static const struct sample samples[] = {
        { BYTES(POST "Accept: */*\r\nContent-Length: 3\r\n\r\nyes"), 0, 2 },
        { BYTES(POST "Accept: */*\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi"), 400, 1 },
        { BYTES(POST "Accept: */*\r\nContent-Length : 2\r\n\r\nhi"), 400, 1 },
        { BYTES(POST "Accept: */*\r\n\r\n"), 0, 2 },
        { BYTES(POST "Accept: */*\r\n bad\r\n\r\n"), 400, 1 },
        { BYTES(POST "Accept: *\n/*\r\n\r\n"), 400, 1 },
        { BYTES("POST /mcp HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"), 400, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        TEXT_AUTO both = { 0 };

        text_add(&both, first);
        text_add_bytes(&both, samples[i].bytes, samples[i].size);
        check_sample(&samples[i], both.data, both.length, samples[i].passed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_like_the_one_before_is_checked_where_it_differs),
        cmocka_unit_test(valid_requests_pass),
        cmocka_unit_test(malformed_request_lines_are_refused),
        cmocka_unit_test(malformed_header_lines_are_refused),
        cmocka_unit_test(ambiguous_or_invalid_body_lengths_are_refused),
        cmocka_unit_test(malformed_chunks_and_trailers_are_refused),
        cmocka_unit_test(heads_that_are_too_long_are_refused),
        cmocka_unit_test(a_chunk_extension_that_is_too_long_is_refused),
        cmocka_unit_test(requests_before_a_fault_are_passed_on),
        cmocka_unit_test(control_characters_are_refused_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
