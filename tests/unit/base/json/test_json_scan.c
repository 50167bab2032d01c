/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/json/json.h"
#include "base/json/json_scan.h"

/* Valid and invalid documents. They are scanned as they are, truncated, and randomly damaged. */
static const char *const corpus[] = {
    "{}",
    "[]",
    "[[],{},[{}]]",
    " { \"a\" : [ 1 , 2.5 , -3e-2 , true , false , null ] } \r\n\t",
    "\"\"",
    "\"plain\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
    "0",
    "-0",
    "-0.0",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775809",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.7976931348623159e308",
    "-1.8e308",
    "1e999999999999999999999999",
    "1e-999999999999999999999999",
    "0e999999999999999999999999",
    "0.000000000000000000001e329",
    "1E+2",
    "4.9e-324",
    "0.1000000000000000055511151231257827021181583404541015625",
    "true",
    "false",
    "null",
    "{\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{\"n\":16}}}",
    "{\"a\":1,\"a\":2}",
    "[\"\\ud800\"]",
    "[\"\\udc00\\ud800\"]",
    "[\"\\u0000\"]",
    "[\"\\u00\"]",
    "[\"\\x\"]",
    "[\"\xff\"]",
    "[\"\xed\xa0\x80\"]",
    "[\"a\nb\"]",
    "[\"open",
    "[\"open\\",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,}",
    "{a:1}",
    "{1:1}",
    "[}",
    "{]",
    "[1}",
    "]",
    "01",
    "-",
    "+1",
    ".5",
    "1.",
    "1.e1",
    "1e",
    "1e+",
    "0x1",
    "NaN",
    "Infinity",
    "tru",
    "truee",
    "nulll",
    "True",
    "'a'",
    "[1] []",
    "1 1",
    "",
    "   ",
    "\xef\xbb\xbf{}",
    "// comment\n1",
    "[1]\v",
};

static json_t *build(struct json_scan *scan, enum json_scan_token token);

static json_t *build_string(const struct json_scan *scan)
{
    FREE_AUTO char *copy = memory_zeroed(scan->length + 1, 1);

    assert_true(json_scan_copy(scan, copy, scan->length + 1));
    assert_true(json_scan_is(scan, copy));
    return json_string(copy);
}

static json_t *build_number(const struct json_scan *scan)
{
    int64_t integer;

    if (json_scan_integer(scan, &integer))
        return json_integer(integer);
    return json_real(json_scan_number(scan));
}

static json_t *build_object(struct json_scan *scan)
{
    json_t *object = json_object();
    enum json_scan_token token;

    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        json_auto_t *key = build_string(scan);

        json_object_set_new(object, json_string_value(key), build(scan, json_scan_next(scan)));
    }
    assert_true(token == JSON_SCAN_OBJECT_END || token == JSON_SCAN_FAILED);
    return object;
}

static json_t *build_array(struct json_scan *scan)
{
    json_t *array = json_array();
    enum json_scan_token token;

    while ((token = json_scan_next(scan)) != JSON_SCAN_ARRAY_END && token != JSON_SCAN_FAILED)
        json_array_append_new(array, build(scan, token));
    return array;
}

/* Builds jansson's tree for the value that begins with `token`. A value at which the scanner failed
 * becomes null. */
static json_t *build(struct json_scan *scan, enum json_scan_token token)
{
    switch (token) {
    case JSON_SCAN_OBJECT:
        return build_object(scan);
    case JSON_SCAN_ARRAY:
        return build_array(scan);
    case JSON_SCAN_STRING:
        return build_string(scan);
    case JSON_SCAN_NUMBER:
        return build_number(scan);
    case JSON_SCAN_TRUE:
    case JSON_SCAN_FALSE:
        return json_boolean(token == JSON_SCAN_TRUE);
    case JSON_SCAN_NULL:
    case JSON_SCAN_FAILED:
        return json_null();
    case JSON_SCAN_DONE:
    case JSON_SCAN_KEY:
    case JSON_SCAN_OBJECT_END:
    case JSON_SCAN_ARRAY_END:
        break;
    }
    fail_msg("no value begins with token %d", (int)token);
    return NULL;
}

/* Like json_parse_by_jansson, but a key can occur twice. */
static json_t *parse(const char *bytes, size_t length)
{
    struct error error = { 0 };
    json_t *value = NULL;

    if (!json_parse_by_jansson(bytes, length, &value, &error)
        && strstr(error.message, "duplicate") != NULL)
        value = json_loadb(bytes, length, JSON_DECODE_ANY, NULL);
    return value;
}

/* Asserts that the scanner and the parser either both refuse the bytes or read the same document.
 * Returns whether they accept the bytes. */
static bool assert_agreed(const char *bytes, size_t length)
{
    char *exact = malloc(length > 0 ? length : 1); /* so that a read beyond the end is detected */
    json_auto_t *parsed = parse(bytes, length);
    json_auto_t *built = NULL;
    struct json_scan scan;
    bool accepted;

    memcpy(exact, bytes, length);
    json_scan_init(&scan, exact, length);
    built = build(&scan, json_scan_next(&scan));
    accepted = json_scan_next(&scan) == JSON_SCAN_DONE;
    if (accepted != (parsed != NULL))
        fail_msg("scanner and parser disagree on: %.*s", (int)length, bytes);
    if (accepted && !json_equal(parsed, built))
        fail_msg("scanner and parser read different values from: %.*s", (int)length, bytes);
    free(exact);
    return accepted;
}

static void agrees_with_the_parser_on_the_corpus(void **state)
{
    int accepted = 0;

    (void)state;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++)
        accepted += assert_agreed(corpus[i], strlen(corpus[i]));
    assert_in_range(accepted, 20, 40); /* of 77, so both verdicts occur */
}

static void agrees_with_the_parser_on_every_prefix(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++)
        for (size_t length = 0; length < strlen(corpus[i]); length++)
            assert_agreed(corpus[i], length);
}

static void agrees_with_the_parser_on_damaged_documents(void **state)
{
    static const char alphabet[] = "{}[]:,\"\\u0123456789abcdefDE+-. \ntruefalsn\xc3\xa9\xed";
    struct generator generator;
    int accepted = 0;

    (void)state;
    generator_init(&generator, 2026);
    for (int i = 0; i < 60000; i++) {
        const char *from = corpus[generator_below(&generator, sizeof corpus / sizeof *corpus)];
        TEXT_AUTO damaged = { 0 };

        text_add(&damaged, from);
        for (uint64_t n = generator_below(&generator, 3); n > 0 && damaged.length > 0; n--)
            damaged.data[generator_below(&generator, damaged.length)] =
                alphabet[generator_below(&generator, sizeof alphabet)];
        accepted += assert_agreed(damaged.data, damaged.length);
    }
    assert_in_range(accepted, 5000, 55000);
}

static void agrees_with_the_parser_on_long_numbers(void **state)
{
    (void)state;
    for (size_t zeros = 280; zeros < 330; zeros++) {
        TEXT_AUTO large = { 0 };
        TEXT_AUTO small = { 0 };

        text_add(&large, "-17976931348623157");
        text_add(&small, "0.");
        for (size_t i = 0; i < zeros; i++) {
            text_add_char(&large, '7');
            text_add_char(&small, '0');
        }
        text_add(&large, ".5");
        text_addf(&small, "17e%zu", 2 * zeros);
        assert_agreed(large.data, large.length);
        assert_agreed(small.data, small.length);
    }
}

/* 2^1024 - 2^970 is the smallest number that rounds beyond the largest double. */
static void a_number_that_rounds_beyond_the_largest_double_is_refused(void **state)
{
    static const char least[] =
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946"
        "649017977587207096330286416692887910946555547851940402630657488671505820681908902000"
        "708383676273854845817711531764475730270069855571366959622842914819860834936475292719"
        "074168444365510704342711559699508093042880177904174497792";
    TEXT_AUTO just_below = { 0 };
    TEXT_AUTO reached = { 0 };
    TEXT_AUTO passed = { 0 };

    (void)state;
    text_addf(&reached, "%s.0", least);
    text_addf(&passed, "%s.00000001", least);
    text_addf(&just_below, "%.*s1.99999999", (int)strlen(least) - 1, least);
    assert_false(assert_agreed(reached.data, reached.length));
    assert_false(assert_agreed(passed.data, passed.length));
    assert_true(assert_agreed(just_below.data, just_below.length));
}

static void accepts_as_many_levels_as_the_parser(void **state)
{
    (void)state;
    for (size_t depth = 60; depth < 70; depth++) {
        TEXT_AUTO text = { 0 };

        for (size_t i = 0; i < depth; i++)
            text_add(&text, i % 2 == 0 ? "[" : "{\"a\":");
        text_add(&text, "1");
        for (size_t i = depth; i-- > 0;)
            text_add(&text, i % 2 == 0 ? "]" : "}");
        assert_int_equal(assert_agreed(text.data, text.length), depth <= JSON_DEPTH_LIMIT);
    }
}

static void a_million_brackets_are_refused_at_the_depth_limit(void **state)
{
    FREE_AUTO char *deep = memory_zeroed(1000001, 1);
    struct json_scan scan;
    int tokens = 0;

    (void)state;
    memset(deep, '[', 1000000);
    json_scan_init(&scan, deep, 1000000);
    while (json_scan_next(&scan) == JSON_SCAN_ARRAY)
        tokens++;
    assert_int_equal(tokens, JSON_DEPTH_LIMIT);
}

static void returns_the_tokens_of_a_document(void **state)
{
    static const char document[] = "{\"a\": [1, \"x\"], \"b\": null}";
    static const enum json_scan_token expected[] = {
        JSON_SCAN_OBJECT,     JSON_SCAN_KEY,       JSON_SCAN_ARRAY, JSON_SCAN_NUMBER,
        JSON_SCAN_STRING,     JSON_SCAN_ARRAY_END, JSON_SCAN_KEY,   JSON_SCAN_NULL,
        JSON_SCAN_OBJECT_END, JSON_SCAN_DONE,      JSON_SCAN_DONE
    };
    struct json_scan scan;

    (void)state;
    json_scan_init(&scan, document, sizeof document - 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(json_scan_next(&scan), expected[i]);
}

/* The server reads the envelope of a message like this: it skips members that it does not need, and
 * passes others on unchanged. */
static void finds_members_and_skips_the_rest(void **state)
{
    static const char document[] = "{\"x\": {\"id\": [1, {}]}, \"i\\u0064\": \"7\\n\", "
                                   "\"params\": {\"a\": [ 1 ]} , \"n\": -12}";
    const char *params = NULL, *id = NULL;
    size_t params_length = 0, id_length = 0;
    struct json_scan scan;
    int64_t number = 0;

    (void)state;
    json_scan_init(&scan, document, sizeof document - 1);
    assert_int_equal(json_scan_next(&scan), JSON_SCAN_OBJECT);
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        if (json_scan_is(&scan, "id"))
            assert_true(json_scan_value(&scan, &id, &id_length));
        else if (json_scan_is(&scan, "params"))
            assert_true(json_scan_value(&scan, &params, &params_length));
        else
            assert_true(json_scan_value(&scan, NULL, NULL));
        json_scan_integer(&scan, &number);
    }
    assert_int_equal(json_scan_next(&scan), JSON_SCAN_DONE);
    assert_int_equal(id_length, 5);
    assert_memory_equal(id, "\"7\\n\"", 5);
    assert_int_equal(params_length, 12);
    assert_memory_equal(params, "{\"a\": [ 1 ]}", 12);
    assert_int_equal(number, -12);
}

static void goes_through_an_array_value_by_value(void **state)
{
    static const char document[] = "[ {\"a\":1}, [2] ,3 ]";
    static const char *const expected[] = { "{\"a\":1}", "[2]", "3" };
    struct json_scan scan;
    const char *bytes;
    size_t length;

    (void)state;
    json_scan_init(&scan, document, sizeof document - 1);
    assert_int_equal(json_scan_next(&scan), JSON_SCAN_ARRAY);
    for (size_t i = 0; i < 3; i++) {
        assert_true(json_scan_value(&scan, &bytes, &length));
        assert_int_equal(length, strlen(expected[i]));
        assert_memory_equal(bytes, expected[i], length);
    }
    assert_false(json_scan_value(&scan, &bytes, &length));
    assert_int_equal(json_scan_next(&scan), JSON_SCAN_DONE);
}

static struct json_scan scan_string(const char *document)
{
    struct json_scan scan;

    json_scan_init(&scan, document, strlen(document));
    assert_int_equal(json_scan_next(&scan), JSON_SCAN_STRING);
    return scan;
}

static void compares_strings_unescaped(void **state)
{
    struct json_scan plain = scan_string("\"method\""), escaped = scan_string("\"\\u20acx\\/\"");

    (void)state;
    assert_true(json_scan_is(&plain, "method"));
    assert_false(json_scan_is(&plain, "metho"));
    assert_false(json_scan_is(&plain, "methods"));
    assert_true(json_scan_is(&escaped, "\xe2\x82\xacx/"));
    assert_false(json_scan_is(&escaped, "\xe2\x82\xacx"));
    assert_false(json_scan_is(&escaped, "\xe2\x82\xacx/y"));
    assert_false(json_scan_is(&escaped, ""));
}

static void copies_only_what_fits_completely(void **state)
{
    struct json_scan scan = scan_string("\"ab\\u20ac\"");
    char out[8] = "x";

    (void)state;
    assert_true(json_scan_copy(&scan, out, 6));
    assert_string_equal(out, "ab\xe2\x82\xac");
    assert_false(json_scan_copy(&scan, out, 5));
    assert_string_equal(out, "");
}

static void says_what_is_wrong_and_at_which_byte(void **state)
{
    static const struct {
        const char *document, *message;
    } cases[] = {
        { "[1, x]", "the JSON is wrong at byte 4: unexpected character" },
        { "[1, ", "the JSON is wrong at byte 4: it ends too early" },
        { "[1] 2", "the JSON is wrong at byte 4: there is more text after the document" },
        { "[\"\xff\"]", "the JSON is wrong at byte 2: it is not UTF-8" },
        { "[99999999999999999999]", "the JSON is wrong at byte 1: a number is too large" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        struct json_scan scan;
        enum json_scan_token token;

        json_scan_init(&scan, cases[i].document, strlen(cases[i].document));
        do
            token = json_scan_next(&scan);
        while (token != JSON_SCAN_FAILED && token != JSON_SCAN_DONE);
        assert_int_equal(json_scan_next(&scan), JSON_SCAN_FAILED);
        assert_false(json_scan_value(&scan, NULL, NULL));
        assert_false(json_scan_fail(&scan, &error));
        assert_string_equal(error.message, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_parser_on_the_corpus),
        cmocka_unit_test(agrees_with_the_parser_on_every_prefix),
        cmocka_unit_test(agrees_with_the_parser_on_damaged_documents),
        cmocka_unit_test(agrees_with_the_parser_on_long_numbers),
        cmocka_unit_test(a_number_that_rounds_beyond_the_largest_double_is_refused),
        cmocka_unit_test(accepts_as_many_levels_as_the_parser),
        cmocka_unit_test(a_million_brackets_are_refused_at_the_depth_limit),
        cmocka_unit_test(returns_the_tokens_of_a_document),
        cmocka_unit_test(finds_members_and_skips_the_rest),
        cmocka_unit_test(goes_through_an_array_value_by_value),
        cmocka_unit_test(compares_strings_unescaped),
        cmocka_unit_test(copies_only_what_fits_completely),
        cmocka_unit_test(says_what_is_wrong_and_at_which_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
