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
#include "base/json/json_build.h"

#define JANSSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

/* Asserts that json_build and json_parse_by_jansson (jansson's parser, with checks for depth and
 * NUL) either both refuse the bytes or return the same tree, with members in the same order.
 * Returns whether they accept the bytes. */
static bool assert_agreed(const char *bytes, size_t length)
{
    char *exact = malloc(length > 0 ? length : 1); /* so that a read beyond the end is detected */
    json_auto_t *parsed = NULL;
    json_auto_t *built = NULL;
    struct error error;
    bool accepted = json_parse_by_jansson(bytes, length, &parsed, &error);

    memcpy(exact, bytes, length);
    if (json_build(exact, length, &built) != accepted)
        fail_msg("json_build and json_parse_by_jansson disagree on: %.*s", (int)length, bytes);
    free(exact);
    if (accepted) {
        FREE_AUTO char *expected = json_dumps(parsed, JANSSON_FLAGS);
        FREE_AUTO char *written = json_dumps(built, JANSSON_FLAGS);

        assert_true(json_equal(parsed, built));
        assert_string_equal(written, expected);
    }
    return accepted;
}

#define ACCEPTED(literal) assert_true(assert_agreed(literal, sizeof(literal) - 1))
#define REFUSED(literal) assert_false(assert_agreed(literal, sizeof(literal) - 1))

static void builds_the_same_trees_as_jansson(void **state)
{
    (void)state;
    ACCEPTED("{}");
    ACCEPTED("[[],{},[{}]]");
    ACCEPTED("null");
    ACCEPTED("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\uD83D\\uDE00\"");
    ACCEPTED("{\"z\":1,\"a\":{\"z\":[1,-0,0.1,1e308,9223372036854775807]},\"\":true}");
    ACCEPTED("{\"b\\u0061\":{\"c\\n\":{\"d\":1},\"e\":2},\"f\\t\":3}");
}

static void refuses_what_jansson_refuses(void **state)
{
    (void)state;
    REFUSED("");
    REFUSED("{} {}");
    REFUSED("{\"a\":1");
    REFUSED("[1,\0]");
    REFUSED("[\"a\0\"]");
    REFUSED("[\"\\u0000\"]");
    REFUSED("[\"\xff\"]");
    REFUSED("[1e400]");
}

static void a_duplicate_key_is_refused_however_it_is_escaped(void **state)
{
    (void)state;
    REFUSED("{\"a\":1,\"a\":1}");
    REFUSED("{\"a\":{},\"b\":2,\"a\":{}}");
    REFUSED("{\"ab\":1,\"a\\u0062\":2}");
    REFUSED("[{\"x\":[{\"a\":1,\"a\":[[[]]]}]}]");
    ACCEPTED("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}");
}

static void accepts_64_levels_and_no_more(void **state)
{
    (void)state;
    for (size_t depth = 62; depth < 67; depth++) {
        TEXT_AUTO text = { 0 };

        for (size_t i = 0; i < depth; i++)
            text_add(&text, i % 2 == 0 ? "[" : "{\"a\":");
        for (size_t i = depth; i-- > 0;)
            text_add(&text, i % 2 == 0 ? "]" : i == depth - 1 ? "1}" : "}");
        assert_int_equal(assert_agreed(text.data, text.length), depth <= JSON_DEPTH_LIMIT);
    }
}

/* ---- Generated messages ---------------------------------------------------------------------- */

static struct generator generator;

static uint64_t any_below(uint64_t bound)
{
    return generator_below(&generator, bound);
}

static void add_whitespace(struct text *out)
{
    if (any_below(8) == 0)
        text_add_char(out, " \n\t\r"[any_below(4)]);
}

static void add_any_string(struct text *out)
{
    static const char *const pieces[] = { "a",        "name",  "\\n",  "\\u0041",
                                          "\xc3\xa9", "_meta", "\\\\", "/",
                                          "\\\"",     " ",     "id",   "\\ud83d\\ude00" };

    text_add_char(out, '"');
    for (uint64_t n = any_below(4); n > 0; n--)
        text_add(out, pieces[any_below(sizeof pieces / sizeof *pieces)]);
    text_add_char(out, '"');
}

static void add_any_value(struct text *out, unsigned depth)
{
    static const char *const scalars[] = { "0", "-17", "2.50", "1e3", "true", "false", "null" };
    uint64_t kind = any_below(depth > 0 ? 4 : 2);
    uint64_t members = kind < 2 ? 0 : any_below(6);

    if (kind == 0)
        text_add(out, scalars[any_below(sizeof scalars / sizeof *scalars)]);
    if (kind == 1)
        add_any_string(out);
    if (kind < 2)
        return;
    text_add_char(out, kind == 2 ? '[' : '{');
    for (uint64_t i = 0; i < members; i++) {
        add_whitespace(out);
        if (i > 0)
            text_add_char(out, ',');
        if (kind == 3) {
            add_any_string(out);
            add_whitespace(out);
            text_add_char(out, ':');
        }
        add_any_value(out, depth - 1);
    }
    text_add_char(out, kind == 2 ? ']' : '}');
}

/* Appends an object with some of the members of an MCP message, starting at a random one. Their
 * values are random. */
static void add_message(struct text *out)
{
    static const char *const names[] = { "jsonrpc", "id", "method", "params", "result", "more" };
    uint64_t first = any_below(6), count = any_below(7);

    text_add_char(out, '{');
    for (uint64_t i = 0; i < count; i++) {
        text_addf(out, "%s\"%s\":", i > 0 ? "," : "", names[(first + i) % 6]);
        add_any_value(out, 4);
    }
    text_add_char(out, '}');
}

static void agrees_with_jansson_on_generated_messages(void **state)
{
    int accepted = 0;

    (void)state;
    generator_init(&generator, 20260728);
    for (int i = 0; i < 20000; i++) {
        TEXT_AUTO message = { 0 };

        add_message(&message);
        accepted += assert_agreed(message.data, message.length);
        for (uint64_t n = any_below(3); n > 0; n--)
            message.data[any_below(message.length)] = "{}[]:,\"\\u0e. \xc3"[any_below(13)];
        accepted += assert_agreed(message.data, message.length);
    }
    assert_in_range(accepted, 10000, 39000); /* of 40,000, so both verdicts occur */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_the_same_trees_as_jansson),
        cmocka_unit_test(refuses_what_jansson_refuses),
        cmocka_unit_test(a_duplicate_key_is_refused_however_it_is_escaped),
        cmocka_unit_test(accepts_64_levels_and_no_more),
        cmocka_unit_test(agrees_with_jansson_on_generated_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
