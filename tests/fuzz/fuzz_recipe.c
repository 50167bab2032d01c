/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_parse: an accepted recipe has a command. Overrides that repeat the recipe's own values
 * change nothing. An override of a member is refused if the recipe does not allow it. */
#include "fleet/recipes/recipe.h"
#include "tests/fuzz/fuzz.h"

static json_t *own_values(const struct recipe *recipe)
{
    json_t *opened = recipe_overrides(recipe), *values = json_object(), *range;
    const char *name;

    json_object_foreach(opened, name, range)
        json_object_set(values, name, json_object_get(range, "value"));
    json_decref(opened);
    return values;
}

static void check(const struct recipe *recipe)
{
    json_auto_t *values = own_values(recipe);
    json_auto_t *argv = recipe_argv(recipe, "a-deployment");
    struct recipe again;
    struct error error;

    must(json_is_array(argv));
    must(recipe_override(recipe, values, &again, &error));
    must(json_equal(recipe->document, again.document));
    recipe_finish(&again);
    json_object_set_new(values, "image", json_string("another"));
    must(!recipe_override(recipe, values, &again, &error) && error.kind == ERROR_INVALID);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recipe recipe;
    struct error error = { 0 };

    if (recipe_parse((const char *)data, size, &recipe, &error)) {
        check(&recipe);
        recipe_finish(&recipe);
    } else
        must(error.kind == ERROR_INVALID && error.message[0] != '\0');
    return 0;
}
