/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "fleet/providers/provider.h"
#include "fleet/recipes/recipe_book.h"
#include "fleet/recipes/recipe_lint.h"

static struct recipe_book *embedded(void)
{
    struct recipe_book *book;
    struct error error;

    if (!recipe_book_create("", &book, &error))
        fail_msg("%s", error.message);
    return book;
}

/* Returns a copy of the catalogue's recipe `name`, with the members in `changes`, for example
 * {"disk_gb": 199}, set to the values given there. null removes a member. */
static struct recipe changed(const struct recipe_book *book, const char *name, const char *changes)
{
    json_auto_t *document = json_deep_copy(recipe_book_find(book, name)->document);
    json_auto_t *values = json_loads(changes, 0, NULL);
    struct recipe recipe;
    struct error error;
    const char *member;
    json_t *value;

    json_object_foreach(values, member, value)
        if (json_is_null(value))
            json_object_del(document, member);
        else
            json_object_set(document, member, value);
    if (!recipe_read(document, &recipe, &error))
        fail_msg("%s: %s", changes, error.message);
    return recipe;
}

static const struct lint_case {
    const char *recipe, *changes, *place, *kind;
    bool refused;
    /* part of the error or warning; NULL: there is one warning, which is about the image's tag */
    const char *words;
} cases[] = {
    { "run-gemma-4-12b-qat-l4", "{\"hardware\":\"nvidia-h100\"}", "", "", true, "no such acc" },
    { "run-gemma-4-12b-qat-l4", "{\"chips\":2}", "", "", true, "exactly one GPU" },
    { "run-gemma-4-12b-qat-l4", "{\"host\":{\"cpu\":2,\"memory_gib\":16}}", "", "", true,
      "4 CPUs and 16 GiB" },
    { "run-gemma-4-12b-qat-l4", "{\"host\":{\"cpu\":4,\"memory_gib\":15}}", "", "", true,
      "4 CPUs and 16 GiB" },
    { "run-gemma-4-31b-rtx6000", "{\"host\":{\"cpu\":20,\"memory_gib\":79}}", "", "", true,
      "20 CPUs and 80 GiB" },
    { "run-gemma-4-12b-qat-l4", "{}", "us-west1", "", true, "has the L4 only in" },
    { "run-gemma-4-31b-rtx6000", "{}", "us-east4", "", true, "has the RTX PRO 6000 only in" },
    { "run-gemma-4-12b-qat-l4",
      "{\"probes\":{\"startup\":{\"initial_s\":241,\"period_s\":10,\"failures\":3}}}", "", "", true,
      "at most 240 s" },
    { "run-gemma-4-12b-qat-l4",
      "{\"probes\":{\"startup\":{\"period_s\":10,\"timeout_s\":11,\"failures\":3}}}", "", "", true,
      "at most its \"period_s\"" },
    { "run-gemma-4-12b-qat-l4", "{\"cloud_run\":{\"timeout_s\":3601}}", "", "", true, "3600 s" },
    { "run-gemma-4-12b-qat-l4", "{\"cloud_run\":{\"zonal_redundancy\":true}}", "", "", false,
      "56 % more expensive" },
    { "run-gemma-4-12b-qat-l4", "{\"cloud_run\":{}}", "", "", false, "uid 1001" },
    { "run-gemma-4-12b-qat-l4", "{\"scale\":null,\"overrides\":{}}", "", "", false, "80 requests" },
    { "run-gemma-4-12b-qat-l4", "{\"scale\":{\"concurrency\":17},\"overrides\":{}}", "", "", false,
      "wait in the engine" },
    { "run-gemma-4-12b-qat-l4", "{}", "", "", false, "below --max-num-seqs" },
    { "run-gemma-4-12b-qat-l4", "{}", "", "", false, "error 803" },
    { "run-gemma-4-12b-fp8-l4", "{}", "", "", false, "count against" },
    { "run-gemma-4-12b-fp8-rtx6000", "{}", "", "", false, "billed all the time" },
    { "run-gemma-4-12b-qat-l4", "{\"weights\":{\"from\":\"hub\",\"repository\":\"a/b\"}}", "", "",
      false, "downloads the weights again" },
    { "tpu-gemma-4-12b-v6e1", "{\"hardware\":\"google-tpu7x\"}", "", "", true,
      "Compute Engine or" },
    { "tpu-gemma-4-12b-v6e1", "{\"chips\":2}", "", "", true, "1, 4 or 8" },
    { "gce-gemma-4-12b-v6e1", "{\"chips\":16}", "", "", true, "1, 4 or 8" },
    { "tpu-gemma-4-12b-v6e1", "{}", "", "flex_start", false, "stays pending" },
    { "tpu-gemma-4-12b-v6e1", "{}", "", "", false, "adds no features" },
    { "gce-gemma-4-12b-v6e1", "{\"hardware\":\"google-tpu-v5e\"}", "", "", true,
      "queued resource" },
    { "gce-gemma-4-12b-v6e1", "{\"disk_gb\":199}", "", "", true, "at least 200 GB" },
    { "gce-gemma-4-12b-qat-l4", "{}", "", "spot", false, "taken away" },
    { "gke-gemma-4-12b-qat-l4", "{}", "", "", false, "by its digest" },
    { "gke-gemma-4-12b-qat-l4", "{\"environment\":{\"VLLM_SERVER_DEV_MODE\":\"1\"}}", "", "", true,
      "VLLM_SERVER_DEV_MODE" },
    { "gke-gemma-4-12b-qat-l4", "{\"arguments\":{\"--trust-remote-code\":true},\"overrides\":{}}",
      "", "", false, "code that comes" },
    { "gke-gemma-4-31b-v6e8", "{\"host\":null}", "", "", false, "shared memory" },
    { "gke-gemma-4-12b-qat-l4", "{\"arguments\":{},\"overrides\":{}}", "", "", false,
      "longest context" },
    { "gke-gemma-4-12b-qat-l4", "{\"probes\":{}}", "", "", false, "while it loads" },
    { "gke-gemma-4-12b-qat-l4", "{}", "", "on_demand", false, NULL },
};

static bool contains(const json_t *warnings, const char *words)
{
    const json_t *warning;
    size_t i;

    json_array_foreach(warnings, i, warning)
        if (strstr(json_string_value(warning), words) != NULL)
            return true;
    return false;
}

static void each_case_is_refused_or_causes_its_warning(void **state)
{
    struct recipe_book *book = embedded();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recipe recipe = changed(book, cases[i].recipe, cases[i].changes);
        struct recipe_lint_case candidate = { &recipe, cases[i].place, cases[i].kind };
        json_auto_t *warnings = json_array();
        struct error error = { 0 };

        if (recipe_lint(&candidate, warnings, &error) == cases[i].refused)
            fail_msg("%s %s was %s: \"%s\"", cases[i].recipe, cases[i].changes,
                     cases[i].refused ? "accepted" : "refused", error.message);
        if (cases[i].words == NULL)
            assert_int_equal(json_array_size(warnings), 1);
        else if (!contains(warnings, cases[i].words)
                 && strstr(error.message, cases[i].words) == NULL)
            fail_msg("%s %s: nothing about \"%s\"", cases[i].recipe, cases[i].changes,
                     cases[i].words);
        recipe_finish(&recipe);
    }
    recipe_book_destroy(book);
}

/* Every recipe in the catalogue must pass in all its places, unless its status is "cannot_work". */
static void recipes_that_can_work_are_not_refused(void **state)
{
    struct recipe_book *book = embedded();
    size_t count, refused = 0;
    const struct recipe *recipes = recipe_book_all(book, &count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const json_t *places = recipe_member(&recipes[i], "places");
        bool is_accepted = true;

        for (size_t j = 0; j == 0 || j < json_array_size(places); j++) {
            const char *place = json_string_value(json_array_get(places, j));
            struct recipe_lint_case candidate = { &recipes[i], place == NULL ? "" : place, "" };
            json_auto_t *warnings = json_array();
            struct error error;

            is_accepted = recipe_lint(&candidate, warnings, &error) && is_accepted;
        }
        if (!is_accepted && strcmp(recipes[i].status, "cannot_work") != 0)
            fail_msg("%s is refused, although it should work", recipes[i].name);
        refused += !is_accepted;
    }
    /* the recipes for an RTX PRO 6000 in us-east4 and for a v5e on Compute Engine */
    assert_int_equal(refused, 2);
    recipe_book_destroy(book);
}

/* Counts the warnings that contain `words`. */
static size_t count_with(const json_t *warnings, const char *words)
{
    const json_t *warning;
    size_t i, count = 0;

    json_array_foreach(warnings, i, warning)
        count += strstr(json_string_value(warning), words) != NULL;
    return count;
}

static void check_sentences(const char *recipe, const json_t *warnings)
{
    const json_t *warning;
    size_t i;

    json_array_foreach(warnings, i, warning) {
        const char *sentence = json_string_value(warning);

        if (islower((unsigned char)sentence[0]) || sentence[strlen(sentence) - 1] != '.')
            fail_msg("%s: not a sentence: %s", recipe, sentence);
    }
}

/* A plan shows the warnings from the rules for recipes and from the provider in one list, so the
 * two must not repeat each other. */
static void warnings_are_sentences_and_at_most_one_is_about_each_subject(void **state)
{
    static const char *const subjects[] = { "by a tag", "CUDA", "startup probe", "Cloud TPU API" };
    struct recipe_book *book = embedded();
    size_t count;
    const struct recipe *recipes = recipe_book_all(book, &count);
    struct fleet_target target = { 0 };

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct recipe_lint_case candidate = { &recipes[i], "", "" };
        const struct desired desired = {
            .recipe = &recipes[i], .target = &target, .place = "", .kind = ""
        };
        json_auto_t *warnings = json_array();
        struct error error;

        if (!recipe_lint(&candidate, warnings, &error))
            continue;
        provider_find(recipes[i].provider)->lint(&desired, warnings);
        check_sentences(recipes[i].name, warnings);
        for (size_t j = 0; j < sizeof subjects / sizeof *subjects; j++)
            if (count_with(warnings, subjects[j]) > 1)
                fail_msg("%s: warned more than once about \"%s\"", recipes[i].name, subjects[j]);
    }
    recipe_book_destroy(book);
}

static void cloud_run_and_kubernetes_do_not_warn_about_accelerators_if_there_are_none(void **state)
{
    struct recipe_book *book = embedded();
    size_t count;
    const struct recipe *recipes = recipe_book_all(book, &count);
    struct fleet_target target = { 0 };

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct recipe recipe = recipes[i];
        const struct desired desired = {
            .recipe = &recipe, .target = &target, .place = "", .kind = ""
        };
        json_auto_t *warnings = json_array();

        recipe.chips = 0;
        if (strcmp(recipe.provider, "cloud_run") != 0 && strcmp(recipe.provider, "kubernetes") != 0)
            continue;
        provider_find(recipe.provider)->lint(&desired, warnings);
        if (count_with(warnings, "GPU") + count_with(warnings, "accelerator") > 0)
            fail_msg("%s: warned about accelerators", recipe.name);
    }
    recipe_book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_is_refused_or_causes_its_warning),
        cmocka_unit_test(recipes_that_can_work_are_not_refused),
        cmocka_unit_test(warnings_are_sentences_and_at_most_one_is_about_each_subject),
        cmocka_unit_test(cloud_run_and_kubernetes_do_not_warn_about_accelerators_if_there_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
