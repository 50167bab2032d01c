/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_import: stores a team recipe that comes in a call, not from the team's folder. */

#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/fleet/recipe_answer.h"
#include "store/fleet/recipe_imports.h"

#define THIS_MACHINE "local" /* the provider that runs model servers on this machine */

static const struct param params[] = {
    { "text", VALUE_TEXT, .low = 2, .high = RECIPE_BYTES_MAX, .required = true,
      .help = "The recipe, a JSON object." },
    PARAM_IDEMPOTENCY_KEY,
    { 0 },
};

static const struct field fields[] = {
    { "recipe", VALUE_OBJECT, .help = "The recipe as stored.", .fields = recipe_answer_fields,
      .described_in = "recipe_list" },
    { "already_known", VALUE_BOOLEAN, .help = "True: it was already stored like this." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool check(const struct call *call, const struct recipe *recipe, struct error *error)
{
    if (recipe_book_find(call->services->recipes, recipe->name) != NULL)
        return error_set(
            error, ERROR_CONFLICT,
            "opsbrain or the team's folder already has a recipe named %s: choose another name",
            recipe->name);
    if (strcmp(recipe->provider, THIS_MACHINE) == 0)
        return error_set(error, ERROR_FORBIDDEN,
                         "recipes for this machine cannot be imported by a call: put the file "
                         "into the folder that the setting \"recipes\" names");
    return true;
}

/* Stores the recipe. The revision in its text is ignored: the store numbers revisions itself. */
static CHECKED bool store_recipe(struct call *call, struct recipe *recipe, bool *existed,
                                 struct error *error)
{
    struct recipe_import row;
    char *document;
    bool done;

    json_object_set_new(recipe->document, "revision", json_integer(1));
    document = json_write(recipe->document);
    done = recipe_import_put(call->services->store, recipe->name, document, clock_utc_ms(),
                             &call->change, &row, existed, error);
    free(document);
    if (!done)
        return false;
    recipe->revision = row.revision;
    recipe->origin = RECIPE_IMPORTED;
    recipe_import_finish(&row);
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *text = call_text(call, "text");
    struct recipe recipe;
    bool existed, done;

    if (!recipe_parse(text, strlen(text), &recipe, error))
        return false;
    done = check(call, &recipe, error) && store_recipe(call, &recipe, &existed, error);
    if (done) {
        answer->structured = json_pack("{s:o, s:b}", "recipe", recipe_answer_json(&recipe),
                                       "already_known", (int)existed);
        text_addf(&answer->text, "%s: %s, revision %lld.\n", recipe.name,
                  existed ? "nothing changed" : "imported", (long long)recipe.revision);
        answer_next(answer, "recipe_show");
    }
    recipe_finish(&recipe);
    return done;
}

const struct tool tool_recipe_import = {
    .name = "recipe_import",
    .title = "Import a recipe",
    .help = "Imports a team recipe, or a new revision of one, after checking every member. "
            "Plans made with an earlier revision become invalid.",
    .more =
        "docs/recipes.md lists the members. Recipes for this machine are refused: put them into "
        "the folder that the setting `recipes` names, read at start.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_ADMIN,
    .placement = PLACE_WORKER,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .changes_resources = false,
    .grows = true,
    .run = run,
};
