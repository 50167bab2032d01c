/* SPDX-License-Identifier: Apache-2.0 */
/* The requests for each Kubernetes recipe in the catalogue contain the image, the complete command,
 * the number of chips and the node labels that the recipe names. */
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

static void assert_has(const char *written, const struct recipe *recipe, const char *text)
{
    TEXT_AUTO literal = { 0 };

    json_add_string(&literal, text, strlen(text));
    if (strstr(written, text_string(&literal)) == NULL)
        fail_msg("%s: no request contains %s", recipe->name, text_string(&literal));
}

/* Returns the bodies of the requests, one after the other. The caller frees them. */
static char *requests_of(const struct provider *provider, const struct recipe *recipe)
{
    static const struct fleet_target target = { .name = "lab",
                                                .provider = "kubernetes",
                                                .namespace = "llm" };
    const struct desired desired = { .target = &target,
                                     .recipe = recipe,
                                     .deployment = "gemma",
                                     .instance = "inst-1",
                                     .place = "",
                                     .kind = "on_demand",
                                     .request_seed = "plan-1" };
    const struct observed absent = { .state = "absent" };
    struct text written = { 0 };
    struct step *steps;
    struct error error;
    size_t count;

    if (!provider->steps(VERB_CREATE, &desired, &absent, &steps, &count, &error))
        fail_msg("%s: %s", recipe->name, error.message);
    for (size_t i = 0; i < count; i++)
        if (steps[i].body != NULL)
            json_add(&written, steps[i].body);
    step_list_free(steps, count);
    return text_take(&written);
}

static void check(const struct provider *provider, const struct recipe *recipe)
{
    char *written = requests_of(provider, recipe);
    json_auto_t *argv = recipe_argv(recipe, "gemma");
    const json_t *word;
    char chips[32];
    size_t i;

    assert_has(written, recipe, recipe->image);
    json_array_foreach(argv, i, word)
        assert_has(written, recipe, json_string_value(word));
    snprintf(chips, sizeof chips, "%lld", (long long)recipe->chips);
    assert_has(written, recipe, recipe_text(recipe, "kubernetes.resource", ""));
    assert_has(written, recipe, chips);
    json_array_foreach(recipe_member(recipe, "kubernetes.node_labels"), i, word)
        assert_has(written, recipe, strchr(json_string_value(word), '=') + 1);
    assert_has(written, recipe, "hf-secret");
    free(written);
}

static void the_requests_contain_what_each_kubernetes_recipe_names(void **state)
{
    const struct provider *provider = provider_find("kubernetes");
    struct recipe_book *book;
    struct error error;
    size_t count, checked = 0;
    const struct recipe *recipes;

    (void)state;
    if (!recipe_book_create("", &book, &error))
        fail_msg("%s", error.message);
    recipes = recipe_book_all(book, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(recipes[i].provider, provider->name) == 0) {
            check(provider, &recipes[i]);
            checked++;
        }
    assert_true(checked >= 8);
    recipe_book_destroy(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_requests_contain_what_each_kubernetes_recipe_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
