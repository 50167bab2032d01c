/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of recipe_list, recipe_show and recipe_import. */
#include "base/json/json.h"
#include "tests/unit/support/tool_world.h"

static json_t *complete_recipe(const char *name)
{
    json_t *recipe = json_load_file(SOURCE_DIR "/tests/fuzz/corpus/recipe/whole.json", 0, NULL);

    json_object_set_new(recipe, "name", json_string(name));
    return recipe;
}

/* Returns the arguments of recipe_import for the recipe; the caller frees them. */
static char *import_arguments(const json_t *recipe)
{
    char *text = json_write(recipe);
    json_auto_t *arguments = json_pack("{s:s}", "text", text);
    char *written = json_write(arguments);

    free(text);
    return written;
}

static json_t *import(struct world *world, const json_t *recipe)
{
    char *arguments = import_arguments(recipe);
    json_t *answer = world_ok(world, "recipe_import", arguments);

    free(arguments);
    return answer;
}

static void lists_recipes_page_by_page(void **state)
{
    struct world *world = *state;
    json_auto_t *first = world_ok(world, "recipe_list", "{\"provider\":\"cloud_run\",\"limit\":3}");
    char arguments[256];
    json_auto_t *second = NULL;
    const char *cursor = json_get_text(first, "next_cursor", NULL);

    assert_int_equal(json_array_size(json_object_get(first, "recipes")), 3);
    assert_true(json_get_integer(first, "matching", 0) > 15);
    world_says(world, "run-gemma-4-12b-fp8-l4");
    snprintf(arguments, sizeof arguments,
             "{\"provider\":\"cloud_run\",\"limit\":100,\"cursor\":\"%s\"}", cursor);
    second = world_ok(world, "recipe_list", arguments);
    assert_int_equal((json_int_t)json_array_size(json_object_get(second, "recipes")) + 3,
                     json_get_integer(first, "matching", 0));
    assert_null(json_object_get(second, "next_cursor"));
}

static void lists_only_the_recipes_that_match(void **state)
{
    struct world *world = *state;
    json_auto_t *marked =
        world_ok(world, "recipe_list", "{\"status\":\"cannot_work\",\"model\":\"26b\"}");
    const json_t *recipes = json_object_get(marked, "recipes"), *recipe;
    size_t i;

    assert_true(json_array_size(recipes) >= 3);
    json_array_foreach(recipes, i, recipe) {
        assert_non_null(strstr(json_get_text(recipe, "model", ""), "26B"));
        assert_string_equal(json_get_text(recipe, "status", ""), "cannot_work");
    }
    world_do(world, "recipe_list", "{\"hardware\":\"abacus\"}");
    world_says(world, "No recipe matches.");
}

static void shows_whether_a_recipe_fits_and_what_it_costs(void **state)
{
    struct world *world = *state;
    json_auto_t *shown = world_ok(world, "recipe_show",
                                  "{\"recipe\":\"run-gemma-4-12b-qat-l4\",\"place\":"
                                  "\"us-central1\",\"overrides\":{\"max_num_seqs\":\"16\"}}");
    const json_t *price = json_object_get(shown, "price");

    assert_true(json_get_boolean(json_object_get(shown, "fit"), "fits", false));
    assert_true(json_get_number(price, "usd_per_hour", 0) > 1.046);
    assert_null(json_object_get(shown, "refused"));
    assert_null(json_object_get(shown, "document"));
    world_says(world, "1.047 USD/h");
    world_says(world, "--max-num-seqs 16");
    world_says(world, "Warning: The image is named by a tag");
}

static void shows_that_a_local_recipe_is_not_billed_and_what_it_uses(void **state)
{
    struct world *world = *state;

    world_do(world, "recipe_show", "{\"recipe\":\"local-llama-cpp-gemma-4-e2b\"}");
    world_says(world, "\ngemma-4-E2B-it-Q4_K_M.gguf on local\n");
    world_says(world, "\nPrice: nothing is billed for it\n");
    world_do(world, "recipe_show", "{\"recipe\":\"local-ollama-service-gemma-4-e2b\"}");
    world_says(world, "\nUses: the ollama service that runs on this machine\n");
}

static void shows_why_a_recipe_cannot_work(void **state)
{
    struct world *world = *state;
    json_auto_t *shown =
        world_ok(world, "recipe_show", "{\"recipe\":\"run-gemma-4-26b-qat-l4\",\"detail\":true}");

    assert_non_null(strstr(json_get_text(shown, "refused", ""), "This checkpoint does not exist"));
    assert_non_null(json_object_get(shown, "document"));
    assert_null(json_object_get(json_object_get(shown, "price"), "usd_per_hour"));
    world_says(world, "not known: catalog/prices.json has no row for run.gpu.l4, on_demand, in "
                      "us-east4");
}

static void shows_that_a_context_does_not_fit(void **state)
{
    struct world *world = *state;
    json_auto_t *shown = world_ok(world, "recipe_show",
                                  "{\"recipe\":\"run-gemma-4-31b-qat-l4\",\"overrides\":"
                                  "{\"max_model_len\":\"16384\"}}");

    assert_non_null(strstr(json_get_text(shown, "refused", ""), "does not fit: 1 x NVIDIA L4"));
    assert_false(json_get_boolean(json_object_get(shown, "fit"), "fits", true));
}

static void refuses_unknown_names_overrides_and_cursors(void **state)
{
    struct world *world = *state;

    world_refused(world, "recipe_show", "{\"recipe\":\"e4b-rtx\"}", ERROR_NOT_FOUND,
                  "did you mean run-gemma-4-e4b-rtx6000; recipe_list lists all recipes");
    world_refused(world, "recipe_show", "{\"recipe\":\"nothing-like-it-at-all\"}", ERROR_NOT_FOUND,
                  "there is no recipe \"nothing-like-it-at-all\"; recipe_list");
    world_refused(world, "recipe_show",
                  "{\"recipe\":\"run-gemma-4-e4b-l4\",\"overrides\":{\"image\":\"evil\"}}",
                  ERROR_INVALID, "does not open \"image\"");
    world_refused(world, "recipe_list", "{\"cursor\":\"../x\"}", ERROR_INVALID, "\"cursor\"");
}

static void an_import_makes_a_revision_and_is_listed(void **state)
{
    struct world *world = *state;
    json_auto_t *recipe = complete_recipe("ours");
    json_auto_t *first = import(world, recipe);
    json_auto_t *again = import(world, recipe);
    json_auto_t *shown = NULL, *changed = NULL;

    assert_false(json_get_boolean(first, "already_known", true));
    assert_true(json_get_boolean(again, "already_known", false));
    world_audited(world, "recipe_import", "ok", "ours");
    json_object_set_new(recipe, "title", json_string("Another title"));
    changed = import(world, recipe);
    assert_int_equal(json_get_integer(json_object_get(changed, "recipe"), "revision", 0), 2);
    shown = world_ok(world, "recipe_show", "{\"recipe\":\"ours\"}");
    assert_string_equal(json_get_text(json_object_get(shown, "recipe"), "title", ""),
                        "Another title");
    assert_string_equal(json_get_text(json_object_get(shown, "recipe"), "origin", ""), "imported");
    world_do(world, "recipe_list", "{\"limit\":1,\"cursor\":\"ourr\"}");
    world_says(world, "ours");
}

static void import_refused(struct world *world, const json_t *recipe, enum error_kind kind,
                           const char *words)
{
    char *arguments = import_arguments(recipe);

    world_refused(world, "recipe_import", arguments, kind, words);
    free(arguments);
}

static void refuses_imports_that_are_invalid_or_not_allowed(void **state)
{
    struct world *world = *state;
    json_auto_t *known = complete_recipe("run-gemma-4-e4b-l4");
    json_auto_t *here = complete_recipe("here");
    json_auto_t *wrong = complete_recipe("wrong");

    import_refused(world, known, ERROR_CONFLICT, "choose another name");
    json_object_set_new(here, "provider", json_string("local"));
    json_object_del(here, "cloud_run");
    import_refused(world, here, ERROR_FORBIDDEN, "cannot be imported by a call");
    json_object_set_new(wrong, "colour", json_string("red"));
    import_refused(world, wrong, ERROR_INVALID, "has \"colour\"");
    world_refused(world, "recipe_import", "{}", ERROR_INVALID, "text");
    world->role = ROLE_OPERATOR;
    json_object_del(wrong, "colour");
    import_refused(world, wrong, ERROR_FORBIDDEN, "admin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_recipes_page_by_page),
        cmocka_unit_test(lists_only_the_recipes_that_match),
        cmocka_unit_test(shows_whether_a_recipe_fits_and_what_it_costs),
        cmocka_unit_test(shows_that_a_local_recipe_is_not_billed_and_what_it_uses),
        cmocka_unit_test(shows_why_a_recipe_cannot_work),
        cmocka_unit_test(shows_that_a_context_does_not_fit),
        cmocka_unit_test(refuses_unknown_names_overrides_and_cursors),
        cmocka_unit_test(an_import_makes_a_revision_and_is_listed),
        cmocka_unit_test(refuses_imports_that_are_invalid_or_not_allowed),
    };

    return world_run(tests);
}
