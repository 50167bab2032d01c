/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_list: lists the recipes, including those that cannot work. */

#include <string.h>

#include "base/formats/table.h"
#include "handlers/answer.h"
#include "handlers/fleet/recipe_answer.h"
#include "handlers/fleet/recipe_shelf.h"

static const char *const statuses[] = { "verified", "reported", "cannot_work", NULL };

static const struct param params[] = {
    { "provider", VALUE_TEXT, .low = 1, .high = 31,
      .help = "Only for this platform: cloud_run, cloud_tpu, compute_engine, kubernetes, local." },
    { "model", VALUE_TEXT, .low = 1, .high = 120, .help = "Only models with this in their name." },
    { "hardware", VALUE_TEXT, .low = 1, .high = 63,
      .help = "Only hardware with this in its name, such as l4." },
    { "status", VALUE_CHOICE, .choices = statuses, .help = "Only recipes with this status." },
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "recipes", VALUE_LIST, .help = "Sorted by name.", .fields = recipe_answer_fields },
    { "matching", VALUE_INTEGER, .help = "How many recipes match, on all pages." },
    FIELD_NEXT_CURSOR,
    FIELD_NEXT_STEP,
    { 0 },
};

static bool contains(const char *text, const char *part)
{
    return part == NULL || strcasestr(text, part) != NULL;
}

static bool is_wanted(const struct call *call, const struct recipe *recipe)
{
    const char *provider = call_text(call, "provider"), *status = call_text(call, "status");

    return (provider == NULL || strcmp(provider, recipe->provider) == 0)
           && (status == NULL || strcmp(status, recipe->status) == 0)
           && contains(recipe->model, call_text(call, "model"))
           && contains(recipe->hardware, call_text(call, "hardware"));
}

static void write_row(struct table *table, const struct recipe *recipe)
{
    char hardware[RECIPE_HARDWARE_SIZE];

    table_cell(table, "%s", recipe->name);
    table_cell(table, "%s", recipe->provider);
    table_cell(table, "%.60s", recipe->model);
    table_cell(table, "%s", recipe_answer_hardware(recipe, hardware));
    table_cell(table, "%s", recipe_answer_status(recipe));
}

static struct table *begin_table(void)
{
    struct table *table = table_create();

    table_column(table, "Name", false);
    table_column(table, "Provider", false);
    table_column(table, "Model", false);
    table_column(table, "Hardware", false);
    table_column(table, "Status", false);
    return table;
}

/* Adds the recipes of the page that begins after the name `after` (NULL: of the first page), and
 * counts the matching recipes on all pages. Returns the page's last recipe, or NULL if this is the
 * last page. */
static const struct recipe *write_page(const struct call *call, const struct recipe_shelf *shelf,
                                       const char *after, struct table *table, json_t *list,
                                       json_int_t *matching)
{
    size_t limit = answer_page_limit(call);
    const struct recipe *last = NULL;
    bool more = false;

    for (size_t i = 0; i < shelf->count; i++) {
        const struct recipe *recipe = &shelf->recipes[i];

        if (!is_wanted(call, recipe))
            continue;
        ++*matching;
        if (after != NULL && strcmp(recipe->name, after) <= 0)
            continue;
        more = json_array_size(list) == limit;
        if (more)
            continue;
        last = recipe;
        write_row(table, recipe);
        json_array_append_new(list, recipe_answer_json(recipe));
    }
    return more ? last : NULL;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *after = call_text(call, "cursor");
    RECIPE_SHELF_AUTO shelf = { 0 };
    json_t *list = NULL;
    json_int_t matching = 0;
    const struct recipe *last;
    struct table *table;

    if (after != NULL && !text_is_name(after))
        return error_set(error, ERROR_INVALID,
                         "\"cursor\" is not from recipe_list: omit it to begin from the start");
    if (!recipe_shelf_read(call->services, &shelf, error))
        return false;
    list = json_array();
    table = begin_table();
    last = write_page(call, &shelf, after, table, list, &matching);
    answer->structured = json_pack("{s:O, s:I}", "recipes", list, "matching", matching);
    if (json_array_size(list) == 0)
        text_add(&answer->text, "No recipe matches.\n");
    else
        table_render(table, &answer->text);
    table_destroy(table);
    answer_page_end(answer, last == NULL ? NULL : last->name);
    if (json_array_size(list) > 0)
        answer_next(answer, "recipe_show");
    json_decref(list);
    return true;
}

const struct tool tool_recipe_list = {
    .name = "recipe_list",
    .title = "List the recipes",
    .help = "Lists recipes: which model can be served on which hardware of which provider, and "
            "whether that was seen to work.",
    .more = "Recipes come with opsbrain, from the team's folder, or from an import. Those that "
            "cannot work are listed too; recipe_show gives the reason.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
