/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/utf8_stream.h"

static void joins_characters_wherever_they_were_split(void **state)
{
    /* characters of 1, 2, 3, 4 and 1 bytes */
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z";

    (void)state;
    for (size_t step = 1; step < sizeof text; step++) {
        struct utf8_stream stream = { 0 };
        TEXT_AUTO out = { 0 };

        for (size_t at = 0; at < sizeof text - 1; at += step) {
            size_t left = sizeof text - 1 - at;

            utf8_stream_add(&stream, text + at, left < step ? left : step, &out, 1000);
            assert_true(text_is_utf8(text_string(&out), out.length));
        }
        utf8_stream_end(&stream, &out, 1000);
        assert_string_equal(text_string(&out), text);
    }
}

static void replaces_nul_and_invalid_utf8(void **state)
{
    struct utf8_stream stream = { 0 };
    TEXT_AUTO out = { 0 };

    (void)state;
    /* a byte that is never valid, then NUL and a surrogate */
    utf8_stream_add(&stream, "a\xff\0b\xed\xa0\x80", 7, &out, 1000);
    utf8_stream_add(&stream, "\xe2\x82", 2, &out, 1000);
    utf8_stream_add(&stream, "c\xc3", 2, &out, 1000);
    utf8_stream_end(&stream, &out, 1000);
    assert_string_equal(text_string(&out),
                        "a\xef\xbf\xbd\xef\xbf\xbd"
                        "b\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                        "c\xef\xbf\xbd");
}

static void stops_at_the_limit_between_characters(void **state)
{
    struct utf8_stream stream = { 0 };
    TEXT_AUTO out = { 0 };

    (void)state;
    utf8_stream_add(&stream, "abc\xe2\x82\xac", 6, &out, 5);
    assert_string_equal(text_string(&out), "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_characters_wherever_they_were_split),
        cmocka_unit_test(replaces_nul_and_invalid_utf8),
        cmocka_unit_test(stops_at_the_limit_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
