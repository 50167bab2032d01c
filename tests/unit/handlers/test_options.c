/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the forms in which MCP hosts and agents write arguments, with a tool made for these
 * tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/options.h"

static const char *const apis[] = { "completions", "chat", NULL };

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .low = 1, .high = 63, .help = "which" },
    { "model", VALUE_TEXT, .high = 63, .help = "\"\" clears it" },
    { "users", VALUE_INTEGERS, .low = 1, .high = 3, .item_low = 1, .item_high = 99,
      .initial = "[1]", .help = "users" },
    { "labels", VALUE_TEXT_MAP, .high = 9, .item_high = 20, .help = "labels" },
    { "window_s", VALUE_NUMBER, .rare = true, .low = 1, .high = 600, .help = "seconds" },
    { "seed", VALUE_INTEGER, .rare = true, .low = 0, .high = 9, .help = "seed" },
    { "api", VALUE_CHOICE, .rare = true, .choices = apis, .help = "api" },
    { "natural", VALUE_BOOLEAN, .rare = true, .help = "natural" },
    { "rates", VALUE_NUMBERS, .rare = true, .item_low = 0.1, .item_high = 9, .help = "rates" },
    { "stop", VALUE_TEXTS, .rare = true, .high = 3, .item_high = 9, .help = "texts" },
    { 0 },
};

static const struct tool tool = { .name = "sample", .params = params };

static json_t *parse(const char *json)
{
    struct error error;
    json_t *value = NULL;

    assert_true(json_parse(json, strlen(json), &value, &error));
    return value;
}

static void expect_meaning(const char *written, const char *meant)
{
    json_auto_t *given = parse(written), *wanted = parse(meant), *out = NULL;
    struct error error = { 0 };
    FREE_AUTO char *read = NULL;

    if (!tool_check(&tool, given, &out, &error))
        fail_msg("%s: %s", written, error.message);
    read = json_write_canonical(out);
    if (!json_equal(out, wanted))
        fail_msg("%s: got %s, expected %s", written, read, meant);
}

static void expect_refused(const char *written, const char *message)
{
    json_auto_t *given = parse(written);
    struct error error = { 0 };
    json_t *out = NULL;

    assert_false(tool_check(&tool, given, &out, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_string_equal(error.message, message);
}

static void options_become_arguments(void **state)
{
    (void)state;
    expect_meaning(
        "{\"options\":[\"window_s=10\",\"seed = 4\",\"api=chat\",\"natural=True\","
        "\"rates=0.5, 2\",\"stop=a b, c\",\"users=4,8\",\"deployment=lab=1\"]}",
        "{\"window_s\":10,\"seed\":4,\"api\":\"chat\",\"natural\":true,\"rates\":[0.5,2],"
        "\"stop\":[\"a b\",\"c\"],\"users\":[4,8],\"deployment\":\"lab=1\"}");
    expect_meaning("{\"options\":[\"rates=[1,2]\",\"stop=[\\\"a,b\\\"]\"]}",
                   "{\"rates\":[1,2],\"stop\":[\"a,b\"],\"users\":[1]}");
    expect_meaning("{\"window_s\":10,\"options\":[\"window_s=10\"]}",
                   "{\"window_s\":10,\"users\":[1]}");
    expect_meaning("{\"window_s\":10}", "{\"window_s\":10,\"users\":[1]}");
    expect_meaning("{\"options\":{\"window_s\":10}}", "{\"window_s\":10,\"users\":[1]}");
}

static void refuses_invalid_options_and_says_what_is_valid(void **state)
{
    (void)state;
    expect_refused("{\"options\":[\"window_s=0\"]}", "\"window_s\" is 0: it must be from 1 to 600");
    expect_refused("{\"options\":[\"window_s=long\"]}",
                   "\"window_s\" is \"long\": it must be a number from 1 to 600");
    expect_refused(
        "{\"options\":[\"rates=1,x\"]}",
        "\"rates\"[1] is \"x\": \"rates\" must be a list of numbers, such as [0.5, 2, 10]");
    expect_refused("{\"options\":[\"rates=100\"]}",
                   "\"rates\"[0] is 100: each must be from 0.1 to 9");
    expect_refused("{\"options\":[\"api=both\"]}",
                   "\"api\" is \"both\": it must be one of \"completions\", \"chat\"");
    expect_refused("{\"options\":[\"windows_s=10\"]}",
                   "sample takes no argument \"windows_s\": did you mean \"window_s\"?");
    expect_refused(
        "{\"options\":[\"window_s\"]}",
        "\"options\"[0] is \"window_s\": each entry must have the form name=value, such as "
        "\"window_s=10\"");
    expect_refused(
        "{\"options\":[7]}",
        "\"options\"[0] is 7: each entry must have the form name=value, such as \"window_s=10\"");
    expect_refused(
        "{\"options\":\"window_s=10\"}",
        "\"options\" is \"window_s=10\": it must be a list of name=value entries, such as "
        "[\"window_s=10\"]");
    expect_refused("{\"window_s\":5,\"options\":[\"window_s=10\"]}",
                   "\"window_s\" is given twice with different values: give it once");
    expect_refused(
        "{\"options\":[\"options=a=b\"]}",
        "sample takes no argument \"options\"; it takes deployment, model, users, labels, "
        "window_s, seed, api, natural, rates, stop");
}

static void empty_values_without_a_meaning_count_as_omitted(void **state)
{
    (void)state;
    expect_meaning("{\"deployment\":\"\",\"users\":[],\"labels\":[],\"window_s\":\"\",\"seed\":[],"
                   "\"api\":\"\",\"natural\":\"\",\"rates\":\"\",\"stop\":null,\"options\":[]}",
                   "{\"users\":[1]}");
    expect_meaning("{\"options\":\"\",\"deployment\":null}", "{\"users\":[1]}");
    expect_meaning("{\"options\":[\"seed=\",\"stop=\"]}", "{\"users\":[1]}");
    expect_meaning("{\"users\":[],\"options\":[\"users=2\"]}", "{\"users\":[2]}");
}

static void values_with_a_meaning_are_kept_even_if_empty_zero_or_false(void **state)
{
    (void)state;
    expect_meaning("{\"model\":\"\",\"labels\":{}}",
                   "{\"model\":\"\",\"labels\":{},\"users\":[1]}");
    expect_meaning("{\"options\":[\"model=\",\"labels=\"]}",
                   "{\"model\":\"\",\"labels\":{},\"users\":[1]}");
    expect_meaning("{\"natural\":false,\"seed\":0}",
                   "{\"natural\":false,\"seed\":0,\"users\":[1]}");
}

static void maps_can_be_written_as_lists(void **state)
{
    (void)state;
    expect_meaning("{\"labels\":[\"team=search\",\"tier = a=b\"]}",
                   "{\"labels\":{\"team\":\"search\",\"tier\":\"a=b\"},\"users\":[1]}");
    expect_meaning("{\"options\":[\"labels=team=search,tier=1\"]}",
                   "{\"labels\":{\"team\":\"search\",\"tier\":\"1\"},\"users\":[1]}");
    expect_refused("{\"labels\":[\"team\"]}", "\"labels\"[0] is \"team\": each entry must have the "
                                              "form name=value, such as \"team=search\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_become_arguments),
        cmocka_unit_test(refuses_invalid_options_and_says_what_is_valid),
        cmocka_unit_test(empty_values_without_a_meaning_count_as_omitted),
        cmocka_unit_test(values_with_a_meaning_are_kept_even_if_empty_zero_or_false),
        cmocka_unit_test(maps_can_be_written_as_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
