/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading recipes, of the faults for which a recipe is refused, and of the members that a
 * recipe opens to overrides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "fleet/recipes/recipe.h"
#include "fleet/recipes/recipe_members.h"

/* Loads a valid recipe, which has most of the members that a recipe can have. */
static json_t *whole(void)
{
    json_t *recipe = json_load_file(SOURCE_DIR "/tests/fuzz/corpus/recipe/whole.json", 0, NULL);

    assert_non_null(recipe);
    return recipe;
}

static struct recipe read_whole(void)
{
    json_auto_t *document = whole();
    struct recipe recipe;
    struct error error;

    if (!recipe_read(document, &recipe, &error))
        fail_msg("%s", error.message);
    return recipe;
}

static void reads_a_recipe(void **state)
{
    struct recipe recipe = read_whole();

    (void)state;
    assert_string_equal(recipe.name, "a");
    assert_int_equal(recipe.revision, 1);
    assert_string_equal(recipe.provider, "cloud_run");
    assert_string_equal(recipe.hardware, "nvidia-l4");
    assert_int_equal(recipe.chips, 1);
    assert_string_equal(recipe.status, "reported");
    assert_int_equal(recipe_integer(&recipe, "host.memory_gib", 0), 16);
    assert_int_equal(recipe_integer(&recipe, "arguments.--max-model-len", 0), 16384);
    assert_string_equal(recipe_text(&recipe, "cloud_run.accelerator", ""), "nvidia-l4");
    assert_true(recipe_lists(&recipe, "places", "us-east4"));
    assert_false(recipe_lists(&recipe, "places", "us-east5"));
    recipe_finish(&recipe);
}

static void makes_the_command_line_as_a_list_of_strings(void **state)
{
    struct recipe recipe = read_whole();
    json_auto_t *argv = recipe_argv(&recipe, "gemma");
    char *written = json_write(argv);

    (void)state;
    assert_string_equal(
        written,
        "[\"--model\",\"/mnt/models/b\",\"--max-model-len\",\"16384\",\"--async-scheduling\","
        "\"--served-model-name\",\"gemma\",\"--speculative-config\","
        "\"{\\\"method\\\":\\\"mtp\\\",\\\"num_speculative_tokens\\\":3}\","
        "\"--kv-cache-dtype\",\"fp8\"]");
    free(written);
    recipe_finish(&recipe);
}

/* Each row sets one member of the recipe in whole.json to `value` (JSON; NULL: removes the member).
 * The error message that refuses the recipe must contain `words`. */
static const struct fault {
    const char *member, *value, *words;
} faults[] = {
    { "name", "\"a b\"", "\"name\" must be a name" },
    { "name", "\"../../etc/passwd\"", "\"name\" must be a name" },
    { "name", NULL, "lacks \"name\"" },
    { "revision", "0", "\"revision\" must be an integer from 1" },
    { "revision", "1.5", "\"revision\" must be an integer from 1" },
    { "title", "\"\\u001b[31mred, red\"", "\"title\" must be a string" },
    { "image", "\"a b\"", "\"image\" must be a string (without spaces)" },
    { "image", NULL, "one of \"image\", \"program\" and \"service\"" },
    { "program", "\"/bin/sh\"", "one of \"image\", \"program\" and \"service\"" },
    { "colour", "1", "has \"colour\", which is not a member" },
    { "kubernetes", "{}", "has \"kubernetes\", which is not a member" },
    { "cloud_run", "[]", "\"cloud_run\" must be an object" },
    { "cloud_run", "{\"a\":{\"b\":1}}",
      "\"cloud_run.a\" must be a string, a number, a boolean or a list of at most 32 strings: it "
      "is {\"b\":1}" },
    { "cloud_run", "{\"\\u001b[2J\":null}", "\"cloud_run.\xef\xbf\xbd[2J\" must be a string" },
    { "port", "70000", "\"port\" must be an integer from 1 to 65535" },
    { "host", "{\"cpu\":0}", "\"host.cpu\" must be an integer from 1" },
    { "host", "{\"gpu\":1}", "has \"host.gpu\"" },
    { "weights", "{\"from\":\"the internet\"}", "\"weights.from\" must be one of" },
    { "probes", "{\"startup\":{\"period_s\":1}}", "lacks \"probes.startup.failures\"" },
    { "kinds", "[\"free\"]", "\"kinds\" must be one of" },
    { "kinds", "[]", "\"kinds\" must be a list of strings with 1 to 8" },
    { "places", "\"us-east4\"", "\"places\" must be a list" },
    { "cost", "[{\"item\":\"x\",\"quantity\":-1}]", "\"cost.quantity\" must be a number" },
    { "as_of", "\"yesterday\"", "\"as_of\" must be a date" },
    { "status", "\"cannot_work\"", "needs a \"reason\"" },
    { "hardware", NULL, "but no \"hardware\"" },
    { "arguments", "{\"--api-key\":\"x\"}", "credentials must not be arguments" },
    { "arguments", "{\"--API-KEY\":\"x\"}", "credentials must not be arguments" },
    { "arguments", "{\"; rm\":\"x\"}", "not an argument's name" },
    { "arguments", "{\"--a\":\"x\\ny\"}", "\"arguments.--a\" must be" },
    { "environment", "{\"HF_TOKEN\":\"hf_abc\"}", "would hold a credential" },
    { "environment", "{\"LD_PRELOAD\":\"/x.so\"}", "decides what the machine runs" },
    { "environment", "{\"A=B\":\"x\"}", "not a variable's name" },
    { "environment", "{\"A\":{\"secret\":\"x\",\"file\":\"y\"}}", "\"environment.A\" must be" },
    { "overrides", "{\"image\":{\"choices\":[\"a\"]}}", "opens \"image\"" },
    { "overrides", "{\"command\":{\"choices\":[\"a\"]}}", "opens \"command\"" },
    { "overrides", "{\"max_model_len\":{\"least\":1}}", "\"overrides.max_model_len\" must be" },
    { "overrides", "{\"max_model_len\":{\"least\":1,\"most\":2}}",
      "does not allow the recipe's own value" },
    { "notes", "[\"hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\"]", "looks like a credential" },
    { "overrides", "{\"ctx_size\":{\"least\":1,\"most\":2}}", "has no value for it" },
};

static void each_fault_is_refused_with_an_error_message_about_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        json_auto_t *document = whole();
        struct recipe recipe;
        struct error error = { 0 };

        if (faults[i].value == NULL)
            json_object_del(document, faults[i].member);
        else
            json_object_set_new(document, faults[i].member,
                                json_loads(faults[i].value, JSON_DECODE_ANY, NULL));
        if (recipe_read(document, &recipe, &error))
            fail_msg("%s: %s was accepted", faults[i].member, faults[i].value);
        if (strstr(error.message, faults[i].words) == NULL)
            fail_msg("%s: %s: \"%s\" lacks \"%s\"", faults[i].member, faults[i].value,
                     error.message, faults[i].words);
        assert_int_equal(error.kind, ERROR_INVALID);
    }
}

static void json_that_is_too_long_invalid_or_not_an_object_is_refused(void **state)
{
    char *text = malloc(RECIPE_BYTES_MAX + 1);
    struct recipe recipe;
    struct error error;

    (void)state;
    memset(text, ' ', RECIPE_BYTES_MAX + 1);
    assert_false(recipe_parse(text, RECIPE_BYTES_MAX + 1, &recipe, &error));
    assert_non_null(strstr(error.message, "65536 bytes"));
    assert_false(recipe_parse("[]", 2, &recipe, &error));
    assert_false(recipe_parse("{", 1, &recipe, &error));
    free(text);
}

static bool override(const char *json, struct recipe *out, struct error *error)
{
    struct recipe recipe = read_whole();
    json_auto_t *overrides = json_loads(json, JSON_DECODE_ANY, NULL);
    bool done = recipe_override(&recipe, overrides, out, error);

    recipe_finish(&recipe);
    return done;
}

static void members_that_the_recipe_opens_can_be_set_within_their_ranges(void **state)
{
    struct recipe recipe;
    struct error error;

    (void)state;
    if (!override("{\"max_model_len\":8192,\"kv_cache_dtype\":\"auto\",\"num_speculative_tokens\":"
                  "2,\"max_instances\":3}",
                  &recipe, &error))
        fail_msg("%s", error.message);
    assert_int_equal(recipe_integer(&recipe, "arguments.--max-model-len", 0), 8192);
    assert_string_equal(recipe_text(&recipe, "arguments.--kv-cache-dtype", ""), "auto");
    assert_int_equal(
        recipe_integer(&recipe, "arguments.--speculative-config.num_speculative_tokens", 0), 2);
    assert_int_equal(recipe_integer(&recipe, "scale.max", 0), 3);
    recipe_finish(&recipe);
}

static void overrides_that_the_recipe_does_not_allow_are_refused(void **state)
{
    static const char *const refused[] = {
        "{\"image\":\"evil\"}",
        "{\"arguments\":{\"--model\":\"evil\"}}",
        "{\"arguments.--model\":\"evil\"}",
        "{\"environment\":{}}",
        "{\"cloud_run\":{}}",
        "{\"weights\":{\"from\":\"hub\"}}",
        "{\"max_num_seqs\":4}",
        "{\"max_model_len\":65536}",
        "{\"max_model_len\":\"8192\"}",
        "{\"max_model_len\":8192.0}",
        "{\"max_model_len\":null}",
        "{\"kv_cache_dtype\":\"fp8 --trust-remote-code\"}",
        "{\"num_speculative_tokens\":5}",
        "[\"max_model_len\"]",
        "\"max_model_len\"",
    };
    struct recipe recipe;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (override(refused[i], &recipe, &error))
            fail_msg("%s was accepted", refused[i]);
        assert_int_equal(error.kind, ERROR_INVALID);
    }
    assert_false(override("{\"image\":\"evil\"}", &recipe, &error));
    assert_string_equal(error.message,
                        "the recipe a does not open \"image\" to overrides: it opens "
                        "max_model_len, kv_cache_dtype, num_speculative_tokens, max_instances");
    assert_false(override("{\"max_model_len\":65536}", &recipe, &error));
    assert_string_equal(
        error.message, "for the recipe a, \"max_model_len\" must be from 1024 to 32768, not 65536");
}

static void the_documentation_lists_all_top_level_members_and_what_can_be_opened(void **state)
{
    FILE *file = fopen(SOURCE_DIR "/docs/recipes.md", "r");
    static char page[1 << 16];
    char name[128];

    (void)state;
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    for (const struct recipe_member *member = recipe_members; member->name != NULL; member++) {
        snprintf(name, sizeof name, "| `%s`", member->name);
        if (strstr(page, name) == NULL)
            fail_msg("docs/recipes.md lacks %s", name);
    }
    for (const struct recipe_opening *opening = recipe_openings; opening->name != NULL; opening++) {
        snprintf(name, sizeof name, "| `%s`", opening->name);
        if (strstr(page, name) == NULL || strstr(page, opening->path) == NULL)
            fail_msg("docs/recipes.md lacks %s or %s", name, opening->path);
    }
}

static void members_that_decide_what_runs_where_and_at_what_cost_cannot_be_opened(void **state)
{
    static const char *const closed[] = { "image",    "program",          "command",
                                          "weights",  "provider",         "engine",
                                          "cost",     "places",           "kinds",
                                          "hardware", "arguments.--model" };

    (void)state;
    for (const struct recipe_opening *opening = recipe_openings; opening->name != NULL; opening++)
        for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
            size_t length = strlen(closed[i]);

            assert_false(strncmp(opening->path, closed[i], length) == 0
                         && (opening->path[length] == '.' || opening->path[length] == '\0'));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_recipe),
        cmocka_unit_test(makes_the_command_line_as_a_list_of_strings),
        cmocka_unit_test(each_fault_is_refused_with_an_error_message_about_it),
        cmocka_unit_test(json_that_is_too_long_invalid_or_not_an_object_is_refused),
        cmocka_unit_test(members_that_the_recipe_opens_can_be_set_within_their_ranges),
        cmocka_unit_test(overrides_that_the_recipe_does_not_allow_are_refused),
        cmocka_unit_test(the_documentation_lists_all_top_level_members_and_what_can_be_opened),
        cmocka_unit_test(members_that_decide_what_runs_where_and_at_what_cost_cannot_be_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
