/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "client/command/tool_flags.h"
#include "handlers/tool.h"

/* Checks every row of tool_words whose tool is in this program: unless its operands are files to
 * upload, they must be parameters of the tool. */
static void every_word_names_parameters_of_its_tool(void **state)
{
    static const char *const ids[] = { "run_1", "swp_1", "job_1", "demo" };
    char name[TOOL_WORD_PARAM_SIZE];

    (void)state;
    for (const struct tool_word *word = tool_words; word->name != NULL; word++) {
        const struct tool *tool = tool_find(word->tool);

        for (size_t given = 1; tool != NULL && given <= TOOL_WORD_OPERANDS_MAX; given++)
            for (size_t i = 0; i < given * 4; i++) {
                bool known = false;

                if (!tool_word_takes(word, given) || word->upload != NULL
                    || !tool_word_param(word, i / 4, given, ids[i % 4], name))
                    continue;
                for (const struct param *param = tool->params; param->name != NULL; param++)
                    known = known || strcmp(param->name, name) == 0;
                if (!known)
                    fail_msg("%s: %s has no parameter %s", word->name, word->tool, name);
            }
    }
}

static int split(char *line, char *words[20])
{
    char *rest = NULL;
    int count = 0;

    for (char *at = strtok_r(line, " ", &rest); at != NULL; at = strtok_r(NULL, " ", &rest))
        words[count++] = at;
    return count;
}

static json_t *read_words(const char *word, const char *tool_name, const char *line, bool *json)
{
    const struct own_flag own[] = { { "json", .set = json }, { 0 } };
    static const struct flag_alias aliases[] = { { "users", "concurrency" }, { 0 } };
    json_auto_t *schema = tool_input_schema(tool_find(tool_name));
    struct tool_flags flags = {
        .schema = schema, .tool = tool_name, .own = own, .aliases = aliases
    };
    FREE_AUTO char *copy = memory_copy_text(line);
    char *given[20];
    const char *operands[20];
    json_t *arguments = NULL;
    struct error error;
    int count = split(copy, given);

    if (word != NULL)
        flags.word = tool_word_find(word, tool_flags_operands(&flags, count, given, operands, 20));
    if (!tool_flags_read(&flags, count, given, &arguments, &error))
        return json_string(error.message);
    return arguments;
}

static void words_become_the_arguments_that_the_schema_describes(void **state)
{
    static const struct {
        const char *word, *tool, *line, *expected;
    } cases[] = {
        { "register", "deployment_register", "demo http://127.0.0.1:8000 --hardware L4",
          "{\"name\":\"demo\",\"url\":\"http://127.0.0.1:8000\",\"hardware\":\"L4\"}" },
        { "jobs", "job_list", "--limit=5 --state running", "{\"limit\":5,\"state\":\"running\"}" },
        { "report", "run_report", "swp_1", "{\"sweep\":\"swp_1\"}" },
        { "report", "run_report", "imp_1", "{\"run\":\"imp_1\"}" },
        { "report", "run_report", "demo", "{\"deployment\":\"demo\"}" },
        { "report", "run_report", "", "{}" },
        { "compare", "run_compare", "swp_1", "{\"sweep\":\"swp_1\"}" },
        { "compare", "run_compare", "run_1,run_2 run_3 --candidate run_4 --keep-wrong",
          "{\"candidate\":[\"run_4\",\"run_3\"],\"keep_wrong\":true,\"baseline\":[\"run_1\",\"run_"
          "2\"]}" },
        { "plan", "sweep_plan",
          "demo --users 1,4 --users=16 --window-s 2.5 --unique-prompts --seed 7",
          "{\"concurrency\":[1,4,16],\"window_s\":2.5,\"options\":[\"unique_prompts=true\",\"seed="
          "7\"],"
          "\"deployment\":\"demo\"}" },
        { "ask", "model_query", "hello", "{\"prompt\":\"hello\"}" },
        { "ask", "model_query", "demo hello", "{\"deployment\":\"demo\",\"prompt\":\"hello\"}" },
        { "ask", "model_query", "--stats -- --hello", "{\"stats\":true,\"prompt\":\"--hello\"}" },
        { NULL, "job_show", "job=job_1 wait_s=0.5", "{\"job\":\"job_1\",\"wait_s\":0.5}" },
        /* Wrong values and unknown names are passed on: the server refuses them. */
        { NULL, "job_list", "limit=many", "{\"limit\":\"many\"}" },
        { "jobs", "job_list", "--limt 5", "{\"limt\":\"5\"}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool json = false;
        json_auto_t *read = read_words(cases[i].word, cases[i].tool, cases[i].line, &json);
        json_auto_t *expected = json_loads(cases[i].expected, 0, NULL);

        assert_non_null(expected);
        if (!json_equal(read, expected))
            fail_msg("%s: got %s, expected %s", cases[i].line, json_write(read), cases[i].expected);
    }
}

static void a_wrong_command_line_is_explained(void **state)
{
    static const struct {
        const char *word, *tool, *line, *expected;
    } cases[] = {
        { "jobs", "job_list", "a", "\"a\" is one word too many" },
        { "jobs", "job_list", "--limit", "--limit needs a value" },
        { "jobs", "job_list", "--limit 1 --limit 2", "limit is given twice" },
        { "jobs", "job_list", "--json=1", "--json takes no value" },
        { NULL, "job_list", "limit", "\"limit\" is neither name=value" },
        { NULL, "job_list", "limit=\xff", "not valid UTF-8" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool json = false;
        json_auto_t *read = read_words(cases[i].word, cases[i].tool, cases[i].line, &json);

        assert_true(json_is_string(read));
        assert_non_null(strstr(json_string_value(read), cases[i].expected));
    }
}

/* `opsbrain bench` reads its arguments in this way before it has found a server. */
static void without_the_schema_only_lists_and_unknown_flags_can_be_repeated(void **state)
{
    static const struct {
        const char *line, *problem; /* NULL: none */
    } cases[] = {
        { "--concurrency 1 --concurrency 4", NULL },
        { "--newer-flag 1 --newer-flag 4", NULL },
        { "--window-s 1 --window-s 4", "window_s is given twice" },
        { "demo --deployment other", "deployment is given twice" },
        { "demo again", "\"again\" is one word too many" },
    };
    static const struct tool_word word = { "bench", "sweep_plan", "[deployment]" };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tool_flags flags = { .word = &word, .tool = "sweep_plan" };
        FREE_AUTO char *copy = memory_copy_text(cases[i].line);
        json_auto_t *arguments = NULL;
        struct error error = { 0 };
        char *words[20];
        bool done = tool_flags_read(&flags, split(copy, words), words, &arguments, &error);

        assert_int_equal(done, cases[i].problem == NULL);
        if (!done)
            assert_non_null(strstr(error.message, cases[i].problem));
    }
}

static void the_commands_own_flags_are_not_passed_to_the_tool(void **state)
{
    bool json = false;
    json_auto_t *read = read_words("jobs", "job_list", "--json", &json);

    (void)state;
    assert_true(json);
    assert_int_equal(json_object_size(read), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_names_parameters_of_its_tool),
        cmocka_unit_test(words_become_the_arguments_that_the_schema_describes),
        cmocka_unit_test(a_wrong_command_line_is_explained),
        cmocka_unit_test(without_the_schema_only_lists_and_unknown_flags_can_be_repeated),
        cmocka_unit_test(the_commands_own_flags_are_not_passed_to_the_tool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
