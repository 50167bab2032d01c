/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"

#define ADD_PRINTABLE(text, literal, limit)                                                        \
    text_add_printable(text, literal, sizeof(literal) - 1, limit)

static void grows_piece_by_piece(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    text_add(&text, "one");
    text_add_char(&text, ' ');
    text_add_bytes(&text, "two three", 3);
    text_addf(&text, " %d-%s", 3, "four");
    assert_string_equal(text.data, "one two 3-four");
    assert_int_equal(text.length, strlen(text.data));
}

static void grows_far_beyond_its_first_capacity(void **state)
{
    TEXT_AUTO text = { 0 };
    char *big = malloc(100001);

    (void)state;
    memset(big, 'x', 100000);
    big[100000] = '\0';
    for (int i = 0; i < 1000; i++)
        text_addf(&text, "%03d", i);
    text_addf(&text, "%s", big);
    assert_int_equal(text.length, 103000);
    assert_memory_equal(text.data + 2997, "999x", 4);
    free(big);
}

static void an_empty_text_reads_as_an_empty_string(void **state)
{
    TEXT_AUTO text = { 0 };
    char *taken;

    (void)state;
    assert_string_equal(text_string(&text), "");
    text_add_bytes(&text, NULL, 0);
    assert_string_equal(text.data, "");
    text_finish(&text);
    taken = text_take(&text);
    assert_string_equal(taken, "");
    free(taken);
}

static void text_take_leaves_the_text_empty_and_usable(void **state)
{
    TEXT_AUTO text = { 0 };
    char *taken;

    (void)state;
    text_add(&text, "abc");
    taken = text_take(&text);
    assert_string_equal(taken, "abc");
    assert_null(text.data);
    text_add(&text, "d");
    assert_string_equal(text.data, "d");
    free(taken);
}

static void clearing_keeps_the_memory(void **state)
{
    TEXT_AUTO text = { 0 };
    size_t capacity;

    (void)state;
    text_add(&text, "abc");
    capacity = text.capacity;
    text_clear(&text);
    assert_string_equal(text.data, "");
    assert_int_equal(text.capacity, capacity);
}

static void recognizes_well_formed_utf8(void **state)
{
    static const char *const good[] = { "",
                                        "abc",
                                        "\xc2\x80",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf",
                                        "a\xe2\x82\xac z" };
    static const char *const bad[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xc2",
        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xe2\x82",     "a\xff",        "\xc2\x41",         "\xe2\x82\x41",     "\xf0\x9f\x98"
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(text_is_utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_is_utf8(bad[i], strlen(bad[i])));
}

static void copies_without_splitting_a_character(void **state)
{
    char out[6];

    (void)state;
    assert_int_equal(text_copy(out, sizeof out, "abcde"), 5);
    assert_string_equal(out, "abcde");
    assert_int_equal(text_copy(out, sizeof out, "abcdef"), 5);
    assert_string_equal(out, "abcde");
    assert_int_equal(text_copy(out, sizeof out, "abc\xe2\x82\xac"), 3);
    assert_string_equal(out, "abc");
    assert_int_equal(text_copy(out, 1, "abc"), 0);
    assert_string_equal(out, "");
}

static void reads_integers_within_bounds(void **state)
{
    int64_t value = 5;

    (void)state;
    assert_true(text_to_integer("0", 0, 10, &value));
    assert_int_equal(value, 0);
    assert_true(text_to_integer("-7", -7, 7, &value));
    assert_int_equal(value, -7);
    assert_true(text_to_integer("9223372036854775807", INT64_MIN, INT64_MAX, &value));
    assert_true(value == INT64_MAX);
    assert_true(text_to_integer("-9223372036854775808", INT64_MIN, INT64_MAX, &value));
    assert_true(value == INT64_MIN);
}

static void refuses_what_is_not_an_integer_within_bounds(void **state)
{
    static const char *const bad[] = { "",
                                       "-",
                                       " 1",
                                       "1 ",
                                       "+1",
                                       "1x",
                                       "0x1",
                                       "1.0",
                                       "1e3",
                                       "9223372036854775808",
                                       "11",
                                       "-1",
                                       "-9223372036854775809" };
    int64_t value = 5;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(text_to_integer(bad[i], 0, 10, &value));
    assert_int_equal(value, 5);
}

static void recognizes_valid_names(void **state)
{
    char longest[65];

    (void)state;
    memset(longest, 'a', 64);
    longest[63] = '\0';
    assert_true(text_is_name("gemma-3_4b.v2"));
    assert_true(text_is_name("7"));
    assert_true(text_is_name(longest));
    longest[63] = 'a';
    longest[64] = '\0';
    assert_false(text_is_name(longest));
    assert_false(text_is_name(""));
    assert_false(text_is_name("-a"));
    assert_false(text_is_name("a b"));
    assert_false(text_is_name("a/b"));
    assert_false(text_is_name("\xc3\xa9"));
}

static void compares_secrets_completely(void **state)
{
    (void)state;
    assert_true(text_equal_constant_time("", ""));
    assert_true(text_equal_constant_time("token", "token"));
    assert_false(text_equal_constant_time("token", "tokeN"));
    assert_false(text_equal_constant_time("token", "toke"));
    assert_false(text_equal_constant_time("toke", "token"));
    assert_false(text_equal_constant_time("", "t"));
    assert_false(text_equal_constant_time("t", ""));
}

static void finds_where_printable_ascii_ends(void **state)
{
    char bytes[40];

    (void)state;
    for (size_t at = 0; at < sizeof bytes; at++)
        for (int byte = 0; byte < 256; byte++) {
            memset(bytes, byte % 2 == 0 ? ' ' : '~', sizeof bytes);
            bytes[at] = (char)byte;
            assert_int_equal(text_plain_length(bytes, sizeof bytes),
                             byte >= ' ' && byte <= '~' ? sizeof bytes : at);
        }
    assert_int_equal(text_plain_length(bytes, 0), 0);
}

static void makes_untrusted_text_printable(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    ADD_PRINTABLE(&text, "a\nb\tc\x1b[0m \xff\xe2\x82\xac \xc2\x9b \0 \x7f", 1000);
    assert_string_equal(text.data, "a\nb\tc\xef\xbf\xbd[0m \xef\xbf\xbd\xe2\x82\xac \xef\xbf\xbd "
                                   "\xef\xbf\xbd \xef\xbf\xbd");
}

static void truncates_printable_text_between_characters(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 12; limit++) {
        TEXT_AUTO text = { 0 };

        text_add(&text, ">");
        ADD_PRINTABLE(&text, "ab\xe2\x82\xac\xe2\x82\xac\xff\xff", limit);
        assert_true(text.length <= limit + 1);
        assert_true(text_is_utf8(text.data, text.length));
    }
}

static void drops_characters_that_are_invisible_or_change_the_text_direction(void **state)
{
    static const char *const invisible[] = {
        "\xe2\x80\xae",     "\xe2\x80\xaa",     "\xe2\x81\xa6",
        "\xe2\x81\xa9", /* U+202E, 202A, 2066, 2069 */
        "\xe2\x80\x8b",     "\xe2\x80\x8f",     "\xef\xbb\xbf",
        "\xd8\x9c",                                                 /* U+200B, 200F, FEFF, 061C */
        "\xf3\xa0\x80\x81", "\xf3\xa0\x81\xbf", "\xf3\xa0\x84\x80", /* U+E0001, E007F, E0100 */
        "\xef\xb8\x8f",     "\xc2\xad",         "\xe2\x81\xa0",     /* U+FE0F, 00AD, 2060 */
    };
    TEXT_AUTO lines = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++) {
        TEXT_AUTO given = { 0 };
        TEXT_AUTO shown = { 0 };

        text_addf(&given, "a%s%sb", invisible[i], invisible[i]);
        text_add_printable(&shown, given.data, given.length, 3);
        assert_string_equal(shown.data, "ab");
    }
    ADD_PRINTABLE(&lines, "a\xe2\x80\xa8> b\xe2\x80\xa9", 100); /* U+2028, 2029 */
    assert_string_equal(lines.data, "a\xef\xbf\xbd> b\xef\xbf\xbd");
    assert_int_equal(text_invisible_sequence("\xe2\x82\xac", 3), 0);
    assert_int_equal(text_invisible_sequence("\xe2\x80", 2), 0);
    assert_int_equal(text_invisible_sequence("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_piece_by_piece),
        cmocka_unit_test(grows_far_beyond_its_first_capacity),
        cmocka_unit_test(an_empty_text_reads_as_an_empty_string),
        cmocka_unit_test(text_take_leaves_the_text_empty_and_usable),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(recognizes_well_formed_utf8),
        cmocka_unit_test(copies_without_splitting_a_character),
        cmocka_unit_test(reads_integers_within_bounds),
        cmocka_unit_test(refuses_what_is_not_an_integer_within_bounds),
        cmocka_unit_test(recognizes_valid_names),
        cmocka_unit_test(compares_secrets_completely),
        cmocka_unit_test(finds_where_printable_ascii_ends),
        cmocka_unit_test(makes_untrusted_text_printable),
        cmocka_unit_test(truncates_printable_text_between_characters),
        cmocka_unit_test(drops_characters_that_are_invisible_or_change_the_text_direction),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
