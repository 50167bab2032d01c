/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the table of tools (help, schemas, roles), and of the instructions for agents. */
#include <ctype.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "bench/plan/plan.h"
#include "bench/plan/plan_members.h"
#include "tests/unit/support/tool_world.h"

static void lists_tools_sorted_by_name(void **state)
{
    static const char *const names[] = {
        "audit_list",      "deployment_list",   "deployment_register", "deployment_remove",
        "deployment_show", "deployment_update", "job_cancel",          "job_list",
        "job_show",        "lease_list",        "metrics_history",     "metrics_show",
        "metrics_watch",   "model_health",      "model_query",         "model_show",
        "recipe_import",   "recipe_list",       "recipe_show",         "run_chart",
        "run_compare",     "run_export",        "run_import",          "run_list",
        "run_report",      "run_show",          "sweep_cancel",        "sweep_list",
        "sweep_plan",      "sweep_resume",      "sweep_show",          "sweep_start",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(tool_find(names[i]));
    for (size_t i = 1; tools[i] != NULL; i++)
        assert_true(strcmp(tools[i - 1]->name, tools[i]->name) < 0);
    assert_null(tool_find("sweep"));
}

static void check_help(const char *tool, const char *name, const char *help)
{
    if (help == NULL || strlen(help) < 4 || strchr(".?", help[strlen(help) - 1]) == NULL)
        fail_msg("%s: the help text of %s must be a sentence", tool, name);
}

static void every_tool_has_a_title_a_help_text_a_set_a_function_and_a_lower_case_name(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++) {
        const struct tool *tool = tools[i];

        assert_true(strlen(tool->title) >= 5 && strlen(tool->title) <= 60);
        assert_true(strlen(tool->help) >= 60 && strlen(tool->help) <= 180);
        assert_int_equal(tool->help[strlen(tool->help) - 1], '.');
        check_help(tool->name, "the whole tool", tool->more);
        assert_true((tool->sets & SETS_ALL) != 0);
        assert_non_null(tool->run);
        for (const char *c = tool->name; *c != '\0'; c++)
            assert_true(islower((unsigned char)*c) || *c == '_');
    }
}

static void check_fields(const char *tool, const struct field *fields)
{
    for (; fields != NULL && fields->name != NULL; fields++) {
        check_help(tool, fields->name, fields->help);
        if (fields->fields != NULL)
            check_fields(tool, fields->fields);
    }
}

static void explains_every_argument_and_every_member_of_an_answer(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++) {
        for (const struct param *param = tools[i]->params; param->name != NULL; param++)
            check_help(tools[i]->name, param->name, param->help);
        check_fields(tools[i]->name, tools[i]->fields);
    }
}

static bool describes_record(const struct field *fields, const struct field *record)
{
    for (; fields != NULL && fields->name != NULL; fields++)
        if (fields->described_in == NULL && fields->fields != NULL
            && (fields->fields == record || describes_record(fields->fields, record)))
            return true;
    return false;
}

/* If `described_in` names a tool, that tool must describe the record; if it names a member, one of
 * `fields` must. */
static void check_references(const struct tool *tool, const struct field *fields)
{
    for (const struct field *field = fields; field != NULL && field->name != NULL; field++) {
        const struct tool *described_by =
            field->described_in == NULL ? NULL : tool_find(field->described_in);

        if (field->described_in != NULL
            && !describes_record(described_by == NULL ? fields : described_by->fields,
                                 field->fields))
            fail_msg("%s: %s is not described in %s", tool->name, field->name, field->described_in);
        if (field->described_in == NULL && field->fields != NULL)
            check_references(tool, field->fields);
    }
}

static void describes_every_record_somewhere(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++)
        check_references(tools[i], tools[i]->fields);
}

static const struct param *param_of(const struct tool *tool, const char *name)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

/* If the schema does not describe an argument, the tool named by `params_described_in` must have
 * the same argument. */
static void describes_every_argument_somewhere(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++) {
        json_auto_t *schema = tool_input_schema(tools[i]);
        const char *name;
        json_t *property;

        json_object_foreach(json_object_get(schema, "properties"), name, property)
            if (json_object_get(property, "description") == NULL)
                assert_non_null(param_of(tool_find(tools[i]->params_described_in), name));
    }
}

static void defaults_pass_the_check_of_arguments_and_are_published_unless_rare(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++) {
        json_auto_t *schema = tool_input_schema(tools[i]), *output = tool_output_schema(tools[i]);
        json_auto_t *given = json_object();
        struct error error;
        json_t *out = NULL;

        assert_string_equal(json_get_text(schema, "type", ""), "object");
        if (tools[i]->fields != NULL)
            assert_string_equal(json_get_text(output, "type", ""), "object");
        for (const struct param *param = tools[i]->params; param->name != NULL; param++) {
            json_t *published = json_object_get(json_object_get(schema, "properties"), param->name);

            if (param->initial == NULL)
                continue;
            assert_false(param->required);
            assert_int_equal(json_object_get(published, "default") == NULL, param->rare);
            json_object_set_new(given, param->name,
                                json_loads(param->initial, JSON_DECODE_ANY, NULL));
        }
        if (!tool_check(tools[i], given, &out, &error)
            && strstr(error.message, " needs \"") == NULL)
            fail_msg("%s: %s", tools[i]->name, error.message);
        json_decref(out);
    }
}

static void read_only_tools_need_the_role_viewer_and_all_others_a_higher_role(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++) {
        const struct tool *tool = tools[i];

        if (!tool->read_only)
            assert_true(tool->role >= ROLE_OPERATOR);
        else
            assert_int_equal(tool->role, ROLE_VIEWER);
    }
}

static void open_world_tools_have_the_placement_waiting(void **state)
{
    (void)state;
    for (size_t i = 0; tools[i] != NULL; i++)
        if (tools[i]->open_world)
            assert_int_equal(tools[i]->placement, PLACE_WAITING);
}

/* Returns false for the arguments of sweep_plan and sweep_start that are not part of the plan. */
static bool is_part_of_plan(const char *param)
{
    return strstr("deployment candidate plan_digest purpose corrects idempotency_key", param)
           == NULL;
}

/* Makes a value that the parameter allows and that is not its default. A different `number`
 * gives different numbers. */
static json_t *make_value(const struct param *param, int number)
{
    double low = param->low, high = param->high, item = param->item_low + number + 1;

    if (param->type == VALUE_INTEGER)
        return json_integer((json_int_t)low + 2 + number % (json_int_t)(high - low - 1));
    if (param->type == VALUE_NUMBER)
        return json_real(low + (high - low) * (number + 1) / 100);
    if (param->type == VALUE_INTEGERS)
        return json_pack("[I, I]", (json_int_t)item, (json_int_t)item + 1);
    if (param->type == VALUE_NUMBERS)
        return json_pack("[f, f]", item, item + 1);
    if (param->type == VALUE_BOOLEAN)
        return json_true();
    if (param->type == VALUE_CHOICE)
        return json_string(param->choices[1]);
    return param->type == VALUE_TEXTS ? json_pack("[s, s]", "a", "b") : json_string("chats");
}

/* bench/plan must read each plan parameter of these tools from its own member, and write it back
 * there. */
static void plans_have_exactly_the_plan_parameters_of_the_tools(void **state)
{
    static const char *const names[] = { "sweep_plan", "sweep_start" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_auto_t *given = json_object(), *written = NULL;
        struct plan plan = { 0 };
        struct error error = { .message = "" };
        int number = 0;

        for (const struct param *param = tool_find(names[i])->params; param->name != NULL; param++)
            if (is_part_of_plan(param->name))
                json_object_set_new(given, param->name, make_value(param, number++));
        if (!plan_members_read(given, &plan, &error))
            fail_msg("%s: %s", names[i], error.message);
        written = plan_members_to_json(&plan);
        if (!json_equal(given, written))
            fail_msg("got %s, expected %s", json_write(written), json_write(given));
    }
}

/* The tools fill in their own defaults before they call plan_read, which fills in its own: both
 * must be the same. */
static void plan_read_has_the_defaults_of_sweep_plan(void **state)
{
    json_auto_t *bare = json_pack("{s:[i], s:[i]}", "concurrency", 1, "input_tokens", 8);
    json_auto_t *completed = NULL, *by_rows = NULL, *by_plan = NULL;
    struct plan from_rows, from_plan;
    struct error error;

    (void)state;
    assert_true(tool_check(tool_find("sweep_plan"), bare, &completed, &error));
    assert_true(plan_read(completed, &from_rows, &error));
    assert_true(plan_read(bare, &from_plan, &error));
    by_rows = plan_to_json(&from_rows);
    by_plan = plan_to_json(&from_plan);
    assert_true(json_equal(by_rows, by_plan));
}

static bool is_argument(const char *word)
{
    for (size_t i = 0; tools[i] != NULL; i++)
        if (param_of(tools[i], word) != NULL)
            return true;
    return false;
}

/* Words that look like a tool's name must be the name of a tool or of an argument. */
static void instructions_name_only_tools_that_exist(void **state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    TEXT_AUTO text = { 0 };
    size_t named = 0;

    (void)state;
    tools_instructions(&text);
    assert_true(text.length > 500 && text.length <= 1500);
    for (const char *at = text.data; *at != '\0';) {
        size_t length = strspn(at, letters);
        char word[64] = "";

        if (length > 0 && length < sizeof word) {
            memcpy(word, at, length);
            for (size_t i = 0; tools[i] != NULL; i++) {
                size_t prefix_length = strcspn(tools[i]->name, "_") + 1;

                if (strncmp(word, tools[i]->name, prefix_length) != 0)
                    continue;
                if (is_argument(word))
                    continue;
                if (tool_find(word) == NULL)
                    fail_msg("the instructions name %s, which does not exist", word);
                named++;
                break;
            }
        }
        at += length > 0 ? length : 1;
    }
    assert_true(named >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_tools_sorted_by_name),
        cmocka_unit_test(every_tool_has_a_title_a_help_text_a_set_a_function_and_a_lower_case_name),
        cmocka_unit_test(explains_every_argument_and_every_member_of_an_answer),
        cmocka_unit_test(describes_every_record_somewhere),
        cmocka_unit_test(describes_every_argument_somewhere),
        cmocka_unit_test(defaults_pass_the_check_of_arguments_and_are_published_unless_rare),
        cmocka_unit_test(read_only_tools_need_the_role_viewer_and_all_others_a_higher_role),
        cmocka_unit_test(open_world_tools_have_the_placement_waiting),
        cmocka_unit_test(plans_have_exactly_the_plan_parameters_of_the_tools),
        cmocka_unit_test(plan_read_has_the_defaults_of_sweep_plan),
        cmocka_unit_test(instructions_name_only_tools_that_exist),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
