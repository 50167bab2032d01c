/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of prompts, and of completion for prompt arguments and for variables in resource URIs. */
#include "handlers/completion.h"
#include "tests/unit/support/tool_sweeps.h"

static bool get_prompt(struct world *world, const char *name, const char *arguments)
{
    json_auto_t *parsed = NULL, *messages = NULL;
    const struct prompt *prompt;
    struct call call = { .services = &world->services, .principal = { .role = world->role } };

    if (!json_parse(arguments, strlen(arguments), &parsed, &world->error))
        fail_msg("%s", arguments);
    text_copy(call.principal.name, sizeof call.principal.name, world->principal);
    call.change.actor = (struct actor){ .client = "test/1", .request_id = "req_p" };
    call.arguments = parsed;
    text_clear(&world->text);
    if (!prompt_get(prompts, &call, name, &prompt, &messages, &world->error))
        return false;
    assert_int_equal(json_array_size(messages), 1);
    assert_string_equal(json_get_text(json_array_get(messages, 0), "role", ""), "user");
    text_add(&world->text,
             json_get_text(json_object_get(json_array_get(messages, 0), "content"), "text", ""));
    return true;
}

static void get_refused(struct world *world, const char *name, const char *arguments,
                        enum error_kind kind, const char *words)
{
    if (get_prompt(world, name, arguments))
        fail_msg("%s %s was not refused", name, arguments);
    if (world->error.kind != kind || strstr(world->error.message, words) == NULL)
        fail_msg("%s: %s", error_kind_name(world->error.kind), world->error.message);
    world_audited(world, "prompts/get", error_kind_name(kind), "");
}

static bool is_argument(const char *word)
{
    for (size_t i = 0; tools[i] != NULL; i++)
        for (const struct param *param = tools[i]->params; param->name != NULL; param++)
            if (strcmp(param->name, word) == 0)
                return true;
    return false;
}

/* Counts the words that begin like the name of a tool, for example with "run_". Each of them must
 * be the name of a tool or of an argument. */
static size_t count_words_like_tools(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    size_t count = 0;

    for (size_t length; *text != '\0'; text += length > 0 ? length : 1) {
        char word[64] = "";
        size_t prefix_length;

        length = strspn(text, letters);
        if (length == 0 || length >= sizeof word)
            continue;
        memcpy(word, text, length);
        prefix_length = strcspn(word, "_") + 1;
        for (size_t i = 0; word[prefix_length - 1] == '_' && tools[i] != NULL; i++)
            if (strncmp(word, tools[i]->name, prefix_length) == 0) {
                if (tool_find(word) == NULL && !is_argument(word))
                    fail_msg("the text names %s, which is neither a tool nor an argument", word);
                count++;
                break;
            }
    }
    return count;
}

static void prompts_are_sorted_and_name_only_tools_that_exist(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    world_register(world, "other");
    for (size_t i = 0; prompts[i] != NULL; i++) {
        assert_true(i == 0 || strcmp(prompts[i - 1]->name, prompts[i]->name) < 0);
        if (!get_prompt(world, prompts[i]->name,
                        strcmp(prompts[i]->name, "compare_deployments") == 0
                            ? "{\"first\":\"demo\",\"second\":\"other\"}"
                        : strcmp(prompts[i]->name, "cost_report") == 0
                            ? "{\"deployment\":\"demo\",\"price_per_hour\":\"4.5\"}"
                            : "{\"deployment\":\"demo\"}"))
            fail_msg("%s: %s", prompts[i]->name, world->error.message);
        world_says(world, "demo");
        assert_true(count_words_like_tools(text_string(&world->text)) >= 3);
        assert_true(count_words_like_tools(prompts[i]->help) == 0);
    }
}

static void choices_of_prompts_without_required_arguments_are_accepted(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    for (size_t i = 0; prompts[i] != NULL; i++)
        for (const struct prompt_argument *at = prompts[i]->arguments; at->name != NULL; at++)
            for (size_t j = 0; at->choices != NULL && at->choices[j] != NULL; j++) {
                TEXT_AUTO arguments = { 0 };

                if (strcmp(prompts[i]->name, "compare_deployments") == 0)
                    continue; /* it needs the names of two deployments as well */
                text_addf(&arguments, "{\"%s\":\"%s\"}", at->name, at->choices[j]);
                assert_true(get_prompt(world, prompts[i]->name, text_string(&arguments)));
            }
    assert_true(get_prompt(world, "diagnose_a_deployment", "{\"symptom\":\"slow_tokens\"}"));
    world_says(world, "kv_cache_use: many sequences");
}

static void refusals_have_a_reason_and_are_audited(void **state)
{
    struct world *world = *state;

    world_register(world, "demo");
    get_refused(world, "no_such", "{}", ERROR_NOT_FOUND, "benchmark_a_deployment");
    get_refused(world, "compare_deployments", "{\"first\":\"demo\"}", ERROR_INVALID, "\"second\"");
    get_refused(world, "compare_deployments", "{\"first\":\"demo\",\"second\":\"demo\"}",
                ERROR_INVALID, "two deployments");
    get_refused(world, "benchmark_a_deployment", "{\"deployment\":\"x\"}", ERROR_NOT_FOUND, "demo");
    get_refused(world, "benchmark_a_deployment", "{\"depth\":\"deep\"}", ERROR_INVALID,
                "quick, standard, thorough");
    get_refused(world, "benchmark_a_deployment", "{\"wrong\":\"1\"}", ERROR_INVALID, "wrong");
    get_refused(world, "cost_report", "{\"price_per_hour\":\"nan\"}", ERROR_INVALID, "number");
    get_refused(world, "cost_report", "{\"price_per_hour\":4}", ERROR_INVALID, "a string");
    get_refused(world, "cost_report", "{\"price_per_hour\":\"4\",\"currency\":\"a\\nb\"}",
                ERROR_INVALID, "one line");
    world->role = ROLE_VIEWER;
    get_refused(world, "benchmark_a_deployment", "{}", ERROR_FORBIDDEN, "operator");
    assert_true(get_prompt(world, "diagnose_a_deployment", "{}"));
}

/* Returns the values that complete `typed`, and sets *total to the reported number of matches.
 * Returns NULL if the request is refused. `owner` is the name of a prompt or the URI template of a
 * resource. */
static json_t *complete(struct world *world, bool is_prompt, const char *owner,
                        const char *argument, const char *typed, size_t *total)
{
    struct completion completion;

    if (!(is_prompt ? completion_of_prompt(prompts, &world->services, owner, argument, typed,
                                           &completion, &world->error)
                    : completion_of_resource(resources, &world->services, owner, argument, typed,
                                             &completion, &world->error)))
        return NULL;
    *total = completion.total;
    return completion.values;
}

static void completes_choices_names_and_ids(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *choices = NULL, *names = NULL, *ids = NULL, *none = NULL, *free_text = NULL;
    size_t total;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    world_register(world, "dolly");
    choices = complete(world, true, "benchmark_a_deployment", "depth", "T", &total);
    assert_int_equal(total, 1);
    assert_string_equal(json_string_value(json_array_get(choices, 0)), "thorough");
    names = complete(world, true, "compare_deployments", "second", "d", &total);
    assert_int_equal(json_array_size(names), 2);
    ids = complete(world, false, "opsbrain://sweeps/{id}", "id", "swp_", &total);
    assert_string_equal(json_string_value(json_array_get(ids, 0)), sweep);
    none = complete(world, false, "opsbrain://deployments/{name}/metrics", "name", "x", &total);
    assert_int_equal(json_array_size(none) + total, 0);
    free_text = complete(world, true, "cost_report", "currency", "E", &total);
    assert_int_equal(json_array_size(free_text), 0);
}

static void returns_at_most_100_values_and_the_number_of_all_matches(void **state)
{
    struct world *world = *state;
    json_auto_t *names = NULL;
    size_t total;

    for (int i = 0; i < 105; i++) {
        char name[32];

        snprintf(name, sizeof name, "demo-%03d", i);
        world_register(world, name);
    }
    names = complete(world, false, "opsbrain://deployments/{name}", "name", "", &total);
    assert_int_equal(json_array_size(names), 100);
    assert_int_equal(total, 105);
}

static void refuses_unknown_prompts_arguments_templates_and_variables(void **state)
{
    struct world *world = *state;
    size_t total;

    assert_null(complete(world, true, "nobody", "x", "", &total));
    assert_int_equal(world->error.kind, ERROR_NOT_FOUND);
    assert_null(complete(world, true, "cost_report", "x", "", &total));
    assert_int_equal(world->error.kind, ERROR_INVALID);
    assert_null(complete(world, false, "opsbrain://guide", "id", "", &total));
    assert_null(complete(world, false, "opsbrain://runs/{id}", "name", "", &total));
    assert_null(complete(world, false, "opsbrain://runs/{name}", "name", "", &total));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prompts_are_sorted_and_name_only_tools_that_exist),
        cmocka_unit_test(choices_of_prompts_without_required_arguments_are_accepted),
        cmocka_unit_test(refusals_have_a_reason_and_are_audited),
        cmocka_unit_test(completes_choices_names_and_ids),
        cmocka_unit_test(returns_at_most_100_values_and_the_number_of_all_matches),
        cmocka_unit_test(refuses_unknown_prompts_arguments_templates_and_variables),
    };

    return world_run(tests);
}
