/* SPDX-License-Identifier: Apache-2.0 */
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
#include "fleet/recipes/recipe_book.h"
#include "fleet/recipes/recipe_fit.h"

#define GIB (1024.0 * 1024 * 1024)

struct world {
    struct catalog *catalog;
    struct recipe_book *book;
};

static int begin(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct error error;

    if (!catalog_create(&world->catalog, &error) || !recipe_book_create("", &world->book, &error))
        fail_msg("%s", error.message);
    *state = world;
    return 0;
}

static int end(void **state)
{
    struct world *world = *state;

    recipe_book_destroy(world->book);
    catalog_destroy(world->catalog);
    free(world);
    return 0;
}

static const struct recipe *named(const struct world *world, const char *name)
{
    const struct recipe *recipe = recipe_book_find(world->book, name);

    if (recipe == NULL)
        fail_msg("there is no recipe %s", name);
    return recipe;
}

static struct recipe_fit fit_of(const struct world *world, const char *name)
{
    struct recipe_fit fit;
    struct error error;

    if (!recipe_fit(named(world, name), world->catalog, &fit, &error))
        fail_msg("%s: %s", name, error.message);
    assert_true(fit.known);
    return fit;
}

static void assert_close(double found, double expected, double tolerance)
{
    if (fabs(found / expected - 1) > tolerance)
        fail_msg("%.6g is not within %.2g %% of %.6g", found, tolerance * 100, expected);
}

/* `kib_per_token`: the size of a token in the KV cache, which the computed size must equal.
 * `tokens`: the capacity of the KV cache, as a server reported it, except where a comment says
 * otherwise. `tolerance`: the fraction by which the computed capacity can differ from `tokens`,
 * because the memory that the engine and the driver use varies. */
static const struct capacity {
    const char *recipe;
    double kib_per_token, tokens, tolerance;
} capacities[] = {
    { "run-gemma-4-31b-rtx6000", 480, 124704, 0.02 },
    { "tpu-gemma-4-e2b-v6e1", 18, 1151744, 0.02 },
    { "tpu-gemma-4-12b-v6e4", 384, 242944, 0.02 },
    /* not reported by a server: 22.0 GiB x 0.92 leaves room for about 55,000 to 60,000 tokens */
    { "gke-gemma-4-12b-qat-l4", 192, 57500, 0.05 },
};

static void capacities_agree_with_known_figures(void **state)
{
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        struct recipe_fit fit = fit_of(*state, capacities[i].recipe);

        assert_close(fit.kv_bytes_per_token / 1024, capacities[i].kib_per_token, 1e-9);
        assert_close((double)fit.kv_tokens, capacities[i].tokens, capacities[i].tolerance);
    }
}

/* The reported size of the cache, divided by the computed bytes per token, must be close to the
 * reported number of tokens. */
static void bytes_per_token_agree_with_reports(void **state)
{
    assert_close(57.09 * GIB / fit_of(*state, "run-gemma-4-31b-rtx6000").kv_bytes_per_token, 124704,
                 2e-4);
    assert_close(19.79 * GIB / fit_of(*state, "tpu-gemma-4-e2b-v6e1").kv_bytes_per_token, 1151744,
                 2e-3);
    assert_close(88.98 * GIB / fit_of(*state, "tpu-gemma-4-12b-v6e4").kv_bytes_per_token, 242944,
                 2e-4);
}

static bool refuses(const struct world *world, const char *name, const char *overrides,
                    struct error *error)
{
    json_auto_t *values = json_loads(overrides, 0, NULL);
    struct recipe recipe;
    bool refused;

    if (!recipe_override(named(world, name), values, &recipe, error))
        fail_msg("%s", error->message);
    refused = !recipe_fit_check(&recipe, world->catalog, error);
    recipe_finish(&recipe);
    return refused;
}

static void a_recipe_that_does_not_fit_is_refused_with_the_reason(void **state)
{
    struct error error;

    assert_false(refuses(*state, "run-gemma-4-31b-qat-l4", "{}", &error));
    assert_true(refuses(*state, "run-gemma-4-31b-qat-l4", "{\"max_model_len\":16384}", &error));
    assert_string_equal(
        error.message,
        "google/gemma-4-31B-it-qat-w4a16-ct does not fit: 1 x NVIDIA L4: 22.0 GiB visible x 0.85 = "
        "18.7; less 13.4 for weights in w4a16 (the rest in main memory) and 2.2 for overhead "
        "leaves 3.1 GiB for the KV cache (3342 tokens at 960.0 KiB); one request of 16384 tokens "
        "needs 3.6");
    assert_true(refuses(*state, "gce-gemma-4-31b-qat-l4", "{\"max_model_len\":16384}", &error));
    assert_non_null(strstr(error.message, "cannot work: The weights (18.4 GiB) leave no room"));
}

static void a_recipe_that_asks_for_more_than_its_hardware_can_do_is_refused(void **state)
{
    const struct world *world = *state;
    struct recipe_fit fit;
    struct error error;

    assert_false(
        recipe_fit(named(world, "tpu-gemma-4-12b-v6e4-on-v6e1"), world->catalog, &fit, &error));
    assert_non_null(strstr(error.message, "splits the model over 4 chips"));
    assert_false(
        recipe_fit(named(world, "run-gemma-4-31b-nvfp4-l4"), world->catalog, &fit, &error));
    assert_non_null(strstr(error.message, "use a Blackwell GPU"));
}

static void the_fit_is_unknown_if_a_figure_is_missing_or_the_engine_is_not_vllm(void **state)
{
    static const char *const unknown[][2] = {
        { "tpu-gemma-4-31b-v5p4", "how much memory programs see" },
        { "run-gemma-4-26b-qat-l4", "no size for this model's weights in this format" },
        { "local-ollama-gemma-4-e2b", "the memory only for vLLM" },
        { "local-vllm-gemma-4-e2b", "names no hardware" },
    };
    const struct world *world = *state;
    struct recipe_fit fit;
    struct error error;

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_true(recipe_fit(named(world, unknown[i][0]), world->catalog, &fit, &error));
        assert_false(fit.known || fit.fits);
        assert_true(isnan(fit.kv_bytes) && fit.kv_tokens == 0);
        if (strstr(fit.arithmetic, unknown[i][1]) == NULL)
            fail_msg("%s: %s", unknown[i][0], fit.arithmetic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacities_agree_with_known_figures),
        cmocka_unit_test(bytes_per_token_agree_with_reports),
        cmocka_unit_test(a_recipe_that_does_not_fit_is_refused_with_the_reason),
        cmocka_unit_test(a_recipe_that_asks_for_more_than_its_hardware_can_do_is_refused),
        cmocka_unit_test(the_fit_is_unknown_if_a_figure_is_missing_or_the_engine_is_not_vllm),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
