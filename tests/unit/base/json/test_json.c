/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

static json_t *parse(const char *string)
{
    struct error error = { 0 };
    json_t *value = NULL;

    if (!json_parse(string, strlen(string), &value, &error))
        fail_msg("%s: %s", string, error.message);
    return value;
}

static void assert_refused(const char *bytes, size_t length, const char *because)
{
    struct error error = { 0 };
    json_t *value = NULL;

    assert_false(json_parse(bytes, length, &value, &error));
    assert_null(value);
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, because) == NULL)
        fail_msg("the error message \"%s\" does not contain \"%s\"", error.message, because);
}

#define REFUSED(literal, because) assert_refused(literal, sizeof(literal) - 1, because)

static char *nested(size_t depth, char open, char close)
{
    char *text = memory_zeroed(2 * depth + 1, 1);

    memset(text, open, depth);
    memset(text + depth, close, depth);
    return text;
}

static void reads_any_kind_of_document(void **state)
{
    static const char *const good[] = {
        "{}",    "[]", "null",   "true",    "false",
        "\"a\"", "0",  "-1.5e3", " [1] \n", "\"\\u00e9\\ud83d\\ude00\""
    };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        json_decref(parse(good[i]));
}

static void says_where_and_how_the_json_is_wrong(void **state)
{
    (void)state;
    REFUSED("{\"a\": 1,\n \"b\" 2}", "line 2, column 6");
    REFUSED("[1, 2", "line 1");
    REFUSED("", "line 1");
    REFUSED("[1,]", "unexpected token");
    REFUSED("nul", "invalid token");
    REFUSED("[01]", "invalid token");
}

static void refuses_text_after_the_document(void **state)
{
    (void)state;
    REFUSED("{} {}", "end of file expected");
    REFUSED("1 2", "end of file expected");
    REFUSED("{}\0", "NUL");
    REFUSED("1\0", "NUL");
}

static void names_a_duplicate_key(void **state)
{
    (void)state;
    REFUSED("{\"model\": 1, \"model\": 2}", "duplicate object key near '\"model\"'");
    REFUSED("{\"a\": {\"b\": 1, \"b\": 1}}", "duplicate object key near '\"b\"'");
    REFUSED("{\"a\": 1, \"\\u0061\": 2}", "duplicate");
}

static void refuses_what_is_not_utf8(void **state)
{
    (void)state;
    REFUSED("\"\xff\"", "unable to decode byte");
    REFUSED("\"\xc0\x80\"", "unable to decode byte");
    REFUSED("\"\xed\xa0\x80\"", "unable to decode byte");
    REFUSED("{\"\xe2\x82\": 1}", "unable to decode byte");
    REFUSED("\"\\ud800\"", "Unicode");
}

static void refuses_zero_bytes_in_strings(void **state)
{
    (void)state;
    REFUSED("\"a\\u0000b\"", "\\u0000 in a string");
    REFUSED("\"a\0b\"", "control character");
    REFUSED("{\"a\\u0000\": 1}", "\\u0000");
}

static void refuses_numbers_that_are_out_of_range_or_nan(void **state)
{
    (void)state;
    REFUSED("[99999999999999999999]", "integer of more than 64 bits at line 1, column 21");
    REFUSED("[-99999999999999999999]", "integer of more than 64 bits");
    REFUSED("[1e999]", "real number overflow");
    REFUSED("[NaN]", "invalid token");
}

static void accepts_64_levels_and_no_more(void **state)
{
    struct error error = { 0 };
    json_t *value = NULL;
    FREE_AUTO char *deep = nested(JSON_DEPTH_LIMIT, '[', ']');
    FREE_AUTO char *deeper = nested(JSON_DEPTH_LIMIT + 1, '[', ']');
    FREE_AUTO char *deepest = nested(1000000, '[', ']');

    (void)state;
    json_decref(parse(deep));
    assert_false(json_parse(deeper, strlen(deeper), &value, &error));
    assert_string_equal(error.message, "the JSON is nested deeper than 64 levels at byte 64");
    assert_refused(deepest, strlen(deepest), "nested deeper than 64 levels");
}

static void brackets_in_strings_are_not_levels(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    text_add(&text, "[\"\\\\\", \"\\\"");
    for (int i = 0; i < 500; i++)
        text_add(&text, "[{");
    text_add(&text, "\"]");
    json_decref(parse(text.data));
}

static void error_messages_show_bytes_from_the_input_only_as_printable_text(void **state)
{
    struct error error = { 0 };
    json_t *value = NULL;

    (void)state;
    assert_false(json_parse("\x1b[2J", 4, &value, &error));
    assert_true(text_is_utf8(error.message, strlen(error.message)));
    assert_null(strchr(error.message, '\x1b'));
}

static void members_that_are_missing_or_of_a_different_type_give_the_fallback(void **state)
{
    json_auto_t *object = parse("{\"t\":\"x\",\"i\":7,\"r\":1.5,\"b\":true,\"n\":null}");

    (void)state;
    assert_string_equal(json_get_text(object, "t", "-"), "x");
    assert_string_equal(json_get_text(object, "i", "-"), "-");
    assert_null(json_get_text(object, "none", NULL));
    assert_int_equal(json_get_integer(object, "i", -1), 7);
    assert_int_equal(json_get_integer(object, "r", -1), -1);
    assert_true(json_get_number(object, "r", 0) == 1.5);
    assert_true(json_get_number(object, "i", 0) == 7);
    assert_true(json_get_number(object, "t", 3) == 3);
    assert_true(json_get_boolean(object, "b", false));
    assert_true(json_get_boolean(object, "i", true));
    assert_int_equal(json_get_integer(NULL, "i", 5), 5);
    assert_int_equal(json_get_integer(json_object_get(object, "t"), "i", 5), 5);
}

static void writes_compactly_in_insertion_order(void **state)
{
    json_auto_t *value = parse("{ \"b\": [1, 2.5, null], \"a\": 0.1 }");
    FREE_AUTO char *written = json_write(value);

    (void)state;
    assert_string_equal(written, "{\"b\":[1,2.5,null],\"a\":0.1}");
}

static void the_canonical_form_is_the_same_for_any_order_and_after_reading_it_back(void **state)
{
    json_auto_t *one = parse("{\"b\": 0.1, \"a\": {\"y\": 1, \"x\": 0.30000000000000004}}");
    json_auto_t *other = parse("{\"a\": {\"x\": 0.30000000000000004, \"y\": 1}, \"b\": 0.1}");
    FREE_AUTO char *written = json_write_canonical(one);
    FREE_AUTO char *written_other = json_write_canonical(other);
    json_auto_t *stored = parse(written);
    FREE_AUTO char *again = json_write_canonical(stored);

    (void)state;
    assert_string_equal(written, "{\"a\":{\"x\":0.3,\"y\":1},\"b\":0.1}");
    assert_string_equal(written, written_other);
    assert_string_equal(written, again);
}

static void string_literals_read_back_unchanged(void **state)
{
    static const char string[] = "a\"b\\c\n\r\t\b\x01\x1f/ \xc3\xa9\xf0\x9f\x98\x80\x7f";
    TEXT_AUTO text = { 0 };
    json_auto_t *read = NULL;

    (void)state;
    json_add_string(&text, string, sizeof string - 1);
    read = parse(text.data);
    assert_string_equal(json_string_value(read), string);
}

static void invalid_utf8_is_replaced_in_string_literals(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    json_add_string(&text, "a\xff\xe2\x82z\0b", 7);
    assert_string_equal(text.data, "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\\u0000b\"");
}

static void numbers_that_are_not_finite_become_null_and_minus_zero_becomes_zero(void **state)
{
    json_auto_t *values = json_array();
    FREE_AUTO char *written = NULL;

    (void)state;
    json_array_append_new(values, json_number_or_null(NAN));
    json_array_append_new(values, json_number_or_null(INFINITY));
    json_array_append_new(values, json_number_or_null(-0.0));
    json_array_append_new(values, json_number_or_null(2.25));
    written = json_write(values);
    assert_string_equal(written, "[null,null,0.0,2.25]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_any_kind_of_document),
        cmocka_unit_test(says_where_and_how_the_json_is_wrong),
        cmocka_unit_test(refuses_text_after_the_document),
        cmocka_unit_test(names_a_duplicate_key),
        cmocka_unit_test(refuses_what_is_not_utf8),
        cmocka_unit_test(refuses_zero_bytes_in_strings),
        cmocka_unit_test(refuses_numbers_that_are_out_of_range_or_nan),
        cmocka_unit_test(accepts_64_levels_and_no_more),
        cmocka_unit_test(brackets_in_strings_are_not_levels),
        cmocka_unit_test(error_messages_show_bytes_from_the_input_only_as_printable_text),
        cmocka_unit_test(members_that_are_missing_or_of_a_different_type_give_the_fallback),
        cmocka_unit_test(writes_compactly_in_insertion_order),
        cmocka_unit_test(the_canonical_form_is_the_same_for_any_order_and_after_reading_it_back),
        cmocka_unit_test(string_literals_read_back_unchanged),
        cmocka_unit_test(invalid_utf8_is_replaced_in_string_literals),
        cmocka_unit_test(numbers_that_are_not_finite_become_null_and_minus_zero_becomes_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
