/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the recipes in the catalogue and in a team's folder. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "fleet/recipes/price_book.h"
#include "fleet/recipes/recipe_book.h"
#include "fleet/recipes/recipe_fit.h"
#include "tests/unit/support/folder.h"

/* Deployments that teams use, and the recipes that were made from them. */
static const struct variant {
    const char *deployments, *recipes[8];
} variants[] = {
    { "Cloud Run: gpu-vllm, gpu-4B-L4", { "run-gemma-4-e4b-l4" } },
    { "Cloud Run: gpu-4B-qat-L4", { "run-gemma-4-e4b-qat-l4" } },
    { "Cloud Run: gpu-12B-L4", { "run-gemma-4-12b-fp8-l4" } },
    { "Cloud Run: gpu-12B-qat-L4", { "run-gemma-4-12b-qat-l4" } },
    { "Cloud Run: gpu-12B-qat-mtp-L4",
      { "run-gemma-4-12b-qat-mtp2-l4", "run-gemma-4-12b-qat-mtp3-l4", "run-gemma-4-12b-qat-mtp4-l4",
        "run-gemma-4-12b-qat-mtp3-tuned-l4" } },
    { "Cloud Run: gpu-26B-L4", { "run-gemma-4-26b-nvfp4-l4" } },
    { "Cloud Run: gpu-26B-qat-L4", { "run-gemma-4-26b-qat-l4" } },
    { "Cloud Run: gpu-31B-L4", { "run-gemma-4-31b-nvfp4-l4" } },
    { "Cloud Run: gpu-31B-qat-L4", { "run-gemma-4-31b-qat-l4" } },
    { "Cloud Run: gpu-6000, gpu-4B-6000, gpu-26B-6000, gpu-31B-6000",
      { "run-gemma-4-31b-rtx6000-us-east4", "run-gemma-4-e4b-rtx6000", "run-gemma-4-26b-rtx6000",
        "run-gemma-4-31b-rtx6000" } },
    { "Cloud Run: gpu-12B-6000", { "run-gemma-4-12b-fp8-rtx6000" } },
    { "Cloud Run: gpu-12B-qat-mtp-6000",
      { "run-gemma-4-12b-fp8-self-draft-rtx6000", "run-gemma-4-12b-qat-mtp2-rtx6000",
        "run-gemma-4-12b-qat-mtp3-rtx6000", "run-gemma-4-12b-qat-mtp4-rtx6000" } },
    { "g2-4-{2B,4B,12B,26B,31B}-qat-L4",
      { "gce-gemma-4-e2b-qat-l4", "gce-gemma-4-e4b-qat-l4", "gce-gemma-4-12b-qat-l4",
        "gce-gemma-4-26b-qat-l4", "gce-gemma-4-31b-qat-l4" } },
    { "g2-48-{26B,31B}", { "gce-gemma-4-26b-g2-48", "gce-gemma-4-31b-g2-48" } },
    { "g2-96-{26B,31B}", { "gce-gemma-4-26b-g2-96", "gce-gemma-4-31b-g2-96" } },
    { "TPU: tpu-12B-v6e1", { "tpu-gemma-4-12b-v6e1", "gce-gemma-4-12b-v6e1" } },
    { "TPU: tpu-12B-v6e4",
      { "tpu-gemma-4-12b-v6e4", "tpu-gemma-4-12b-v6e4-on-v6e1", "gce-gemma-4-12b-v6e4" } },
    { "TPU: tpu-26B, tpu-31B", { "tpu-gemma-4-31b-v6e4", "gce-gemma-4-31b-v6e4" } },
    { "TPU: tpu-26B-v6e4, as stored and as reported",
      { "tpu-gemma-4-26b-v6e4", "tpu-gemma-4-26b-ngram-v6e4", "gce-gemma-4-26b-ngram-v6e4" } },
    { "TPU: tpu-31B-v6e8, 26B-v6e8",
      { "tpu-gemma-4-31b-v6e8", "tpu-gemma-4-26b-v6e8", "gce-gemma-4-31b-v6e8",
        "gce-gemma-4-26b-v6e8" } },
    { "TPU: tpu-{2B,4B}-{v5e1,v6e1,v6e4}",
      { "tpu-gemma-4-e2b-v5e1", "tpu-gemma-4-e2b-v6e1", "tpu-gemma-4-e2b-v6e4",
        "tpu-gemma-4-e4b-v5e1", "tpu-gemma-4-e4b-v6e1", "tpu-gemma-4-e4b-v6e4" } },
    { "TPU: 12B-{mtp,qat,quant}-v6e1",
      { "tpu-gemma-4-12b-mtp-v6e1", "tpu-gemma-4-12b-qat-v6e1", "tpu-gemma-4-12b-quant-v6e1" } },
    { "TPU: tpu-vllm-v5e1-2b and other dev deployments",
      { "tpu-gemma-4-e2b-v5e1", "tpu-gemma-4-e2b-v6e1", "tpu-gemma-4-e2b-v6e8" } },
    { "Compute Engine: ct6e-standard-{1,8}t, ct5p",
      { "gce-gemma-4-e2b-v6e1", "gce-gemma-4-31b-v6e8", "gce-gemma-4-31b-v5p4",
        "gce-gemma-4-e2b-v5e1" } },
    { "GKE: L4 and v6e",
      { "gke-gemma-4-e4b-l4", "gke-gemma-4-12b-qat-l4", "gke-gemma-4-12b-v6e1",
        "gke-gemma-4-26b-ngram-v6e4", "gke-gemma-4-31b-v6e8" } },
    { "EKS: g6", { "eks-gemma-4-12b-qat-g6", "eks-gemma-4-31b-g6-48xlarge" } },
    { "This machine: Ollama e2b, e4b, 31b; llama.cpp; vLLM",
      { "local-ollama-gemma-4-e2b", "local-ollama-gemma-4-e4b", "local-ollama-gemma-4-31b",
        "local-ollama-program-gemma-4-e2b", "local-ollama-service-gemma-4-e2b",
        "local-llama-cpp-gemma-4-e2b", "local-vllm-gemma-4-e2b" } },
};

struct world {
    struct catalog *catalog;
    struct recipe_book *book;
    struct price_book *prices;
};

static int begin(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct error error;

    if (!catalog_create(&world->catalog, &error) || !recipe_book_create("", &world->book, &error)
        || !price_book_create(&world->prices, &error))
        fail_msg("%s", error.message);
    *state = world;
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;

    recipe_book_destroy(world->book);
    price_book_destroy(world->prices);
    catalog_destroy(world->catalog);
    free(world);
    return 0;
}

static void every_variant_in_use_has_its_recipes(void **state)
{
    const struct world *world = *state;

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        for (size_t j = 0; variants[i].recipes[j] != NULL; j++)
            if (recipe_book_find(world->book, variants[i].recipes[j]) == NULL)
                fail_msg("%s: there is no recipe %s", variants[i].deployments,
                         variants[i].recipes[j]);
}

/* The provider "local" is an exception: its recipes' hardware need not be in the catalogue. */
static void the_catalogue_has_every_recipes_model_and_hardware(void **state)
{
    const struct world *world = *state;
    size_t count;
    const struct recipe *recipes = recipe_book_all(world->book, &count);

    assert_true(count > 60);
    for (size_t i = 0; i < count; i++) {
        const struct recipe *recipe = &recipes[i];
        const struct hardware *hardware = catalog_find_hardware(world->catalog, recipe->hardware);

        assert_int_equal(recipe->origin, RECIPE_CATALOGUE);
        if (catalog_find_model(world->catalog, recipe->model) == NULL)
            fail_msg("%s: the catalogue lacks the model %s", recipe->name, recipe->model);
        if (strcmp(recipe->provider, "local") != 0
            && (hardware == NULL || strcmp(hardware->name, recipe->hardware) != 0))
            fail_msg("%s: the catalogue lacks the hardware %s", recipe->name, recipe->hardware);
    }
}

/* A recipe that recipe_fit refuses, or that does not fit into memory, must have the status
 * "cannot_work". */
static void the_computed_memory_agrees_with_the_status(void **state)
{
    /* recipes that cannot work for reasons that recipe_fit does not check */
    static const char *const not_computed[] = {
        "run-gemma-4-26b-qat-l4",
        "gce-gemma-4-26b-qat-l4",
        "run-gemma-4-31b-rtx6000-us-east4",
        "run-gemma-4-12b-fp8-self-draft-rtx6000",
        "gce-gemma-4-e2b-v5e1",
    };
    const struct world *world = *state;
    size_t count, refused = 0, marked = 0;
    const struct recipe *recipes = recipe_book_all(world->book, &count);

    for (size_t i = 0; i < count; i++) {
        bool cannot_work = strcmp(recipes[i].status, "cannot_work") == 0;
        struct recipe_fit fit = { 0 };
        struct error error = { 0 };
        bool done = recipe_fit(&recipes[i], world->catalog, &fit, &error);
        bool is_refused = !done || (fit.known && !fit.fits);

        if (is_refused && !cannot_work)
            fail_msg("%s: %s", recipes[i].name, done ? fit.arithmetic : error.message);
        refused += is_refused;
        marked += cannot_work;
        assert_true(recipe_fit_check(&recipes[i], world->catalog, &error) != cannot_work);
    }
    for (size_t i = 0; i < sizeof not_computed / sizeof *not_computed; i++)
        assert_string_equal(recipe_book_find(world->book, not_computed[i])->status, "cannot_work");
    assert_int_equal(refused + sizeof not_computed / sizeof *not_computed, marked);
}

static double quantity_of(const struct recipe *recipe, const char *item)
{
    const json_t *row;
    size_t i;

    json_array_foreach(recipe_member(recipe, "cost"), i, row)
        if (strcmp(json_get_text(row, "item", ""), item) == 0)
            return json_get_number(row, "quantity", 0);
    return 0;
}

static void cost_items_have_prices_and_on_cloud_run_they_match_the_host(void **state)
{
    const struct world *world = *state;
    size_t count, i, j;
    const struct recipe *recipes = recipe_book_all(world->book, &count);
    const json_t *item;

    for (i = 0; i < count; i++) {
        const struct recipe *recipe = &recipes[i];

        assert_non_null(recipe_member(recipe, "cost"));
        json_array_foreach(recipe_member(recipe, "cost"), j, item) {
            json_auto_t *rows = price_book_rows(world->prices, json_get_text(item, "item", ""));

            /* catalog/prices.json has no price for a v5p */
            if (json_array_size(rows) == 0 && strcmp(recipe->hardware, "google-tpu-v5p") != 0)
                fail_msg("%s: no price for %s", recipe->name, json_get_text(item, "item", ""));
        }
        if (strcmp(recipe->provider, "cloud_run") == 0) {
            assert_true(quantity_of(recipe, "run.vcpu") == recipe_number(recipe, "host.cpu", 0));
            assert_true(quantity_of(recipe, "run.gib")
                        == recipe_number(recipe, "host.memory_gib", 0));
        }
    }
}

/* ---- The team's folder ---- */

static void write_recipe(const char *folder, const char *file, const char *name)
{
    json_auto_t *document =
        json_load_file(SOURCE_DIR "/tests/fuzz/corpus/recipe/whole.json", 0, NULL);
    char path[4096];

    json_object_set_new(document, "name", json_string(name));
    snprintf(path, sizeof path, "%s/%s", folder, file);
    assert_int_equal(json_dump_file(document, path, 0), 0);
}

static void assert_folder_refused(const char *folder, const char *part)
{
    struct recipe_book *book;
    struct error error;

    assert_false(recipe_book_create(folder, &book, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", error.message, part);
}

static void visible_json_files_in_the_teams_folder_are_read_too(void **state)
{
    char folder[FOLDER_SIZE];
    struct recipe_book *book;
    struct error error;

    (void)state;
    folder_create(folder);
    write_recipe(folder, "ours.json", "ours");
    write_recipe(folder, ".hidden.json", "x");
    write_recipe(folder, "readme.txt", "x");
    if (!recipe_book_create(folder, &book, &error))
        fail_msg("%s", error.message);
    assert_int_equal(recipe_book_find(book, "ours")->origin, RECIPE_FOLDER);
    assert_null(recipe_book_find(book, "x"));
    recipe_book_destroy(book);
    folder_remove(folder);
}

static void a_teams_folder_that_is_missing_or_has_a_wrong_file_is_refused(void **state)
{
    char folder[FOLDER_SIZE];
    char path[4096];

    (void)state;
    folder_create(folder);
    write_recipe(folder, "ours.json", "theirs");
    assert_folder_refused(folder,
                          "ours.json: the recipe's \"name\" is theirs but its file is named ours");
    write_recipe(folder, "ours.json", "run-gemma-4-e4b-l4");
    assert_folder_refused(folder, "but its file is named ours");
    snprintf(path, sizeof path, "%s/ours.json", folder);
    remove(path);
    write_recipe(folder, "run-gemma-4-e4b-l4.json", "run-gemma-4-e4b-l4");
    assert_folder_refused(folder, "has the same name as one in the catalogue");
    folder_remove(folder);
    assert_folder_refused("/nonexistent/recipes", "cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_in_use_has_its_recipes),
        cmocka_unit_test(the_catalogue_has_every_recipes_model_and_hardware),
        cmocka_unit_test(the_computed_memory_agrees_with_the_status),
        cmocka_unit_test(cost_items_have_prices_and_on_cloud_run_they_match_the_host),
        cmocka_unit_test(visible_json_files_in_the_teams_folder_are_read_too),
        cmocka_unit_test(a_teams_folder_that_is_missing_or_has_a_wrong_file_is_refused),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
