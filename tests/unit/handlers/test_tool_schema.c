/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a tool's schemas and of the checks of its arguments and answers, with a tool made for
 * these tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/json/json.h"
#include "handlers/tool.h"

static const char *const apis[] = { "completions", "chat", NULL };

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .required = true, .low = 1, .high = 8, .help = "which" },
    { "concurrency", VALUE_INTEGERS, .low = 1, .high = 3, .item_low = 1, .item_high = 4096,
      .initial = "[1, 4]", .help = "users" },
    { "window_s", VALUE_NUMBER, .low = 1, .high = 600, .initial = "5", .help = "seconds" },
    { "seed", VALUE_INTEGER, .help = "any" },
    { "api", VALUE_CHOICE, .choices = apis, .initial = "\"completions\"", .help = "which" },
    { "stats", VALUE_BOOLEAN, .help = "more" },
    { "labels", VALUE_TEXT_MAP, .high = 2, .item_high = 5, .help = "labels" },
    { "factors", VALUE_TEXTS, .high = 2, .item_low = 1, .item_high = 5, .help = "names" },
    { "ramp_s", VALUE_NUMBER, .rare = true, .low = 0, .high = 60, .help = "seconds" },
    { "stop", VALUE_TEXTS, .rare = true, .high = 3, .item_high = 9, .help = "texts" },
    { 0 },
};

static const struct field row_fields[] = {
    { "id", VALUE_TEXT, .help = "its id" },
    { "users", VALUE_INTEGERS, .optional = true, .help = "users" },
    { 0 },
};

static const struct field fields[] = {
    { "count", VALUE_INTEGER, .help = "how many" },
    { "speed", VALUE_NUMBER, .optional = true, .help = "tokens per second" },
    { "rows", VALUE_LIST, .help = "rows", .fields = row_fields },
    { "free", VALUE_OBJECT, .optional = true, .help = "anything" },
    { 0 },
};

static const struct tool tool = { .name = "sample", .params = params, .fields = fields };

static json_t *parse(const char *json)
{
    struct error error;
    json_t *value = NULL;

    assert_true(json_parse(json, strlen(json), &value, &error));
    return value;
}

static void expect_schema_take(json_t *schema, const char *expected)
{
    json_auto_t *given = schema, *wanted = parse(expected);

    if (!json_equal(given, wanted))
        print_error("%s\n", json_write(given));
    assert_true(json_equal(given, wanted));
}

static void expect_refusal(const char *arguments, const char *message)
{
    json_auto_t *given = parse(arguments);
    struct error error = { 0 };
    json_t *out = NULL;

    assert_false(tool_check(&tool, given, &out, &error));
    assert_null(out);
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_string_equal(error.message, message);
}

static void publishes_types_choices_defaults_and_the_maximum_of_a_number(void **state)
{
    (void)state;
    expect_schema_take(
        tool_input_schema(&tool),
        "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"deployment\"],"
        "\"properties\":{"
        "\"deployment\":{\"type\":\"string\",\"description\":\"which\"},"
        "\"concurrency\":{\"type\":\"array\",\"description\":\"users\",\"items\":{\"type\":"
        "\"integer\"},\"default\":[1,4]},"
        "\"window_s\":{\"type\":\"number\",\"description\":\"seconds\",\"maximum\":600,\"default\":"
        "5},"
        "\"seed\":{\"type\":\"integer\",\"description\":\"any\"},"
        "\"api\":{\"type\":\"string\",\"description\":\"which\",\"enum\":[\"completions\","
        "\"chat\"],\"default\":\"completions\"},"
        "\"stats\":{\"type\":\"boolean\",\"description\":\"more\"},"
        "\"labels\":{\"type\":\"array\",\"description\":\"labels\",\"items\":{"
        "\"type\":\"string\"}},"
        "\"factors\":{\"type\":\"array\",\"description\":\"names\",\"items\":{\"type\":\"string\"}}"
        ","
        "\"options\":{\"type\":\"array\",\"description\":\"More as name=value: ramp_s stop. See "
        "opsbrain://arguments/sample.\",\"items\":{\"type\":\"string\"}}}}");
}

/* The schema names only the required members; opsbrain://answers explains every member. */
static void publishes_the_members_that_answers_always_have(void **state)
{
    (void)state;
    expect_schema_take(tool_output_schema(&tool),
                       "{\"type\":\"object\",\"required\":[\"count\",\"rows\"]}");
}

static void checks_records_that_are_described_elsewhere(void **state)
{
    static const struct field referring[] = { { "rows", VALUE_LIST, .help = "Rows.",
                                                .fields = row_fields, .described_in = "sample" },
                                              { 0 } };
    const struct tool other = { .name = "other", .fields = referring };
    json_auto_t *wrong = parse("{\"rows\":[{}]}");
    struct error error;

    (void)state;
    assert_false(tool_conforms(&other, wrong, &error));
}

static void fills_in_defaults_omits_null_and_turns_whole_numbers_into_integers(void **state)
{
    json_auto_t *given = parse("{\"deployment\":\"demo\",\"seed\":4.0,\"api\":null}");
    json_auto_t *wanted = parse("{\"deployment\":\"demo\",\"concurrency\":[1,4],\"window_s\":5,"
                                "\"seed\":4,\"api\":\"completions\"}");
    json_auto_t *out = NULL;
    struct error error;

    (void)state;
    assert_true(tool_check(&tool, given, &out, &error));
    assert_true(json_equal(out, wanted));
}

static void names_missing_arguments(void **state)
{
    (void)state;
    expect_refusal("{}", "sample needs \"deployment\", a string: which");
}

static void if_an_argument_is_unknown_names_the_nearest_or_all(void **state)
{
    (void)state;
    expect_refusal("{\"concurency\":[1]}",
                   "sample takes no argument \"concurency\": did you mean \"concurrency\"?");
    expect_refusal("{\"window\":5}",
                   "sample takes no argument \"window\": did you mean \"window_s\"?");
    expect_refusal("{\"zebra\":5}",
                   "sample takes no argument \"zebra\"; it takes deployment, concurrency, "
                   "window_s, seed, api, stats, labels, factors, ramp_s, stop");
}

static void says_what_a_value_of_the_wrong_type_must_be(void **state)
{
    (void)state;
    expect_refusal("{\"deployment\":7}", "\"deployment\" is 7: it must be a string");
    expect_refusal("{\"deployment\":\"a\",\"seed\":1.5}",
                   "\"seed\" is 1.5: it must be a whole number");
    expect_refusal("{\"deployment\":\"a\",\"window_s\":\"5\"}",
                   "\"window_s\" is \"5\": it must be a number from 1 to 600");
    expect_refusal("{\"deployment\":\"a\",\"concurrency\":8}",
                   "\"concurrency\" is 8: it must be a list of whole numbers, such as [1, 4, 16], "
                   "each from 1 to 4096");
    expect_refusal("{\"deployment\":\"a\",\"concurrency\":[1,\"2\"]}",
                   "\"concurrency\"[1] is \"2\": \"concurrency\" must be a list of whole numbers, "
                   "such as [1, 4, 16]");
    expect_refusal("{\"deployment\":\"a\",\"stats\":\"yes\"}",
                   "\"stats\" is \"yes\": it must be true or false");
    expect_refusal("{\"deployment\":\"a\",\"factors\":[1]}",
                   "\"factors\"[0] is 1: \"factors\" must be a list of strings, such as "
                   "[\"model\", \"engine\"]");
    expect_refusal("{\"deployment\":\"a\",\"labels\":{\"a\":1}}",
                   "\"labels\" is an object: it must be a list of name=value strings, such as "
                   "[\"team=search\"]");
}

static void says_which_values_are_allowed(void **state)
{
    (void)state;
    expect_refusal("{\"deployment\":\"too long a name\"}",
                   "\"deployment\" is 15 bytes long: it must be from 1 to 8");
    expect_refusal("{\"deployment\":\"a\",\"window_s\":0.5}",
                   "\"window_s\" is 0.5: it must be from 1 to 600");
    expect_refusal("{\"deployment\":\"a\",\"concurrency\":[1,2,3,4]}",
                   "\"concurrency\" has 4 entries: it must have from 1 to 3");
    expect_refusal("{\"deployment\":\"a\",\"concurrency\":[1,0]}",
                   "\"concurrency\"[1] is 0: each must be from 1 to 4096");
    expect_refusal("{\"deployment\":\"a\",\"api\":\"responses\"}",
                   "\"api\" is \"responses\": it must be one of \"completions\", \"chat\"");
    expect_refusal("{\"deployment\":\"a\",\"factors\":[\"a\",\"\"]}",
                   "\"factors\"[1] is 0 bytes long: it must be from 1 to 5");
    expect_refusal("{\"deployment\":\"a\",\"factors\":[\"a\",\"b\",\"c\"]}",
                   "\"factors\" has 3 entries: it must have from 0 to 2");
    expect_refusal("{\"deployment\":\"a\",\"labels\":{\"team\":\"search\"}}",
                   "\"labels\".team is 6 bytes long: it must be from 0 to 5");
}

static void error_messages_do_not_repeat_credentials(void **state)
{
    (void)state;
    expect_refusal("{\"deployment\":\"a\",\"seed\":\"hf_abcdefghijklmnopqrstuvwx\"}",
                   "\"seed\" is \"(hidden)\": it must be a whole number");
    expect_refusal("{\"sk-abcdefghijklmnopqrstuvwxyz\":1}",
                   "sample takes no argument \"(hidden)\"; it takes deployment, concurrency, "
                   "window_s, seed, api, stats, labels, factors, ramp_s, stop");
}

static void refuses_arguments_that_are_not_an_object(void **state)
{
    (void)state;
    expect_refusal("[1]", "the arguments of sample must be a JSON object");
}

static void check_conformance(const char *answer, const char *problem)
{
    json_auto_t *given = parse(answer);
    struct error error = { 0 };

    assert_int_equal(tool_conforms(&tool, given, &error), problem == NULL);
    assert_string_equal(error.message, problem == NULL ? "" : problem);
}

static void accepts_answers_that_conform(void **state)
{
    (void)state;
    check_conformance("{\"count\":0,\"rows\":[]}", NULL);
    check_conformance("{\"count\":1,\"speed\":null,\"rows\":[{\"id\":\"a\",\"users\":[1]}],"
                      "\"free\":{\"x\":[]}}",
                      NULL);
}

static void says_why_an_answer_does_not_conform(void **state)
{
    (void)state;
    check_conformance("{\"rows\":[]}", "sample: \"count\" is missing from the answer");
    check_conformance("{\"count\":\"1\",\"rows\":[]}",
                      "sample: \"count\" in the answer is not a whole number");
    check_conformance("{\"count\":1,\"rows\":[{}]}", "sample: \"id\" is missing from the answer");
    check_conformance("{\"count\":1,\"rows\":[3]}",
                      "sample: the answer, or an item of a list in it, is not an object");
    check_conformance("{\"count\":1,\"rows\":[],\"more\":1}",
                      "sample: the answer contains \"more\", which no field describes");
}

static void publishes_the_header_of_an_argument(void **state)
{
    static const struct param region_params[] = {
        { "region", VALUE_TEXT, .high = 20, .header = "Region", .help = "Where." }, { 0 }
    };
    const struct tool with_header = { .name = "a", .params = region_params };
    json_auto_t *schema = tool_input_schema(&with_header);
    const json_t *region = json_object_get(json_object_get(schema, "properties"), "region");

    (void)state;
    assert_string_equal(json_string_value(json_object_get(region, "x-mcp-header")), "Region");
}

static void a_tool_with_its_own_schema_publishes_it_and_checks_no_arguments(void **state)
{
    static const struct param none[] = { { 0 } };
    const struct tool with_schema = { .name = "b",
                                      .params = none,
                                      .input_schema = "{\"$id\":\"x\"}" };
    json_auto_t *schema = tool_input_schema(&with_schema);
    json_auto_t *arguments = json_pack("{s:i}", "anything", 1), *checked = NULL;
    struct error error;

    (void)state;
    assert_string_equal(json_string_value(json_object_get(schema, "$id")), "x");
    assert_true(tool_check(&with_schema, arguments, &checked, &error));
    assert_true(json_equal(arguments, checked));
    assert_null(tool_output_schema(&with_schema)); /* the tool has no fields */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(publishes_types_choices_defaults_and_the_maximum_of_a_number),
        cmocka_unit_test(publishes_the_members_that_answers_always_have),
        cmocka_unit_test(checks_records_that_are_described_elsewhere),
        cmocka_unit_test(fills_in_defaults_omits_null_and_turns_whole_numbers_into_integers),
        cmocka_unit_test(names_missing_arguments),
        cmocka_unit_test(if_an_argument_is_unknown_names_the_nearest_or_all),
        cmocka_unit_test(says_what_a_value_of_the_wrong_type_must_be),
        cmocka_unit_test(says_which_values_are_allowed),
        cmocka_unit_test(error_messages_do_not_repeat_credentials),
        cmocka_unit_test(refuses_arguments_that_are_not_an_object),
        cmocka_unit_test(accepts_answers_that_conform),
        cmocka_unit_test(says_why_an_answer_does_not_conform),
        cmocka_unit_test(publishes_the_header_of_an_argument),
        cmocka_unit_test(a_tool_with_its_own_schema_publishes_it_and_checks_no_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
