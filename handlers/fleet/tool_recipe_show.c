/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_show: shows one recipe, whether its model fits into memory, what a replica costs per hour,
 * and what a plan may override. */

#include <string.h>

#include "base/json/json.h"
#include "fleet/recipes/recipe_fit.h"
#include "fleet/recipes/recipe_lint.h"
#include "handlers/answer.h"
#include "handlers/fleet/recipe_answer.h"
#include "handlers/fleet/recipe_shelf.h"

static const struct param params[] = {
    { "recipe", VALUE_TEXT, .required = true, .low = 1, .high = 63, .help = "Its name." },
    { "overrides", VALUE_TEXT_MAP, .high = 32, .item_high = 64,
      .help = "Other values for overridable members, to see whether it still fits." },
    { "place", VALUE_TEXT, .low = 1, .high = 63,
      .help = "Region or zone for the price; default: the recipe's first." },
    { "kind", VALUE_TEXT, .low = 1, .high = 31,
      .help = "on_demand, spot, flex_start or reserved; default: the recipe's first." },
    PARAM_DETAIL,
    { 0 },
};

static const struct field fit_fields[] = {
    { "fits", VALUE_BOOLEAN, .optional = true, .help = "Missing: not known." },
    { "arithmetic", VALUE_TEXT, .help = "The computation, or why there is none." },
    { "kv_tokens", VALUE_INTEGER, .optional = true,
      .help = "Tokens of KV cache that the engine will report." },
    { 0 },
};

static const struct field price_fields[] = {
    { "usd_per_hour", VALUE_NUMBER, .optional = true,
      .help =
          "List price of one replica; the highest where sources disagree; missing: not known." },
    { "breakdown", VALUE_TEXT, .help = "Its items, sources and dates, or what has no price." },
    { "place", VALUE_TEXT, .help = "Region or zone that the price is for." },
    { "kind", VALUE_TEXT, .help = "on_demand, spot, flex_start or reserved." },
    { 0 },
};

static const struct field fields[] = {
    { "recipe", VALUE_OBJECT, .help = "Its summary.", .fields = recipe_answer_fields,
      .described_in = "recipe_list" },
    { "source", VALUE_TEXT, .help = "Where the recipe is from." },
    { "as_of", VALUE_TEXT, .help = "When the source was read, YYYY-MM-DD." },
    { "fit", VALUE_OBJECT, .help = "Whether it fits into the accelerators' memory.",
      .fields = fit_fields },
    { "price", VALUE_OBJECT, .help = "What it would cost, as an estimate.",
      .fields = price_fields },
    { "overrides", VALUE_OBJECT, .sparse = true,
      .help = "What a plan may override, each with its value and its range or choices." },
    { "places", VALUE_TEXTS, .sparse = true, .help = "Regions or zones that have the hardware." },
    { "kinds", VALUE_TEXTS, .sparse = true, .help = "Ways in which its capacity can be bought." },
    { "command", VALUE_TEXTS, .sparse = true, .help = "Command line of the image or program." },
    { "notes", VALUE_TEXTS, .sparse = true, .help = "What to know before using it." },
    { "warnings", VALUE_TEXTS, .sparse = true, .help = "What is allowed but unwise." },
    { "refused", VALUE_TEXT, .optional = true, .help = "Why a plan with it would be refused." },
    { "document", VALUE_OBJECT, .included = INCLUDED_IN_DETAIL, .help = "The whole recipe." },
    FIELD_NEXT_STEP,
    { 0 },
};

static const char *first_of(const struct recipe *recipe, const char *list)
{
    const char *first = json_string_value(json_array_get(recipe_member(recipe, list), 0));

    return first == NULL ? "" : first;
}

/* The data to show for a recipe. */
struct shown {
    const struct recipe *recipe;
    const char *place; /* region or zone for the price; "": neither call nor recipe names one */
    const char *kind;  /* how the capacity is bought, such as "spot"; "": likewise */
    struct recipe_fit fit;
    struct price price;
    struct error refusal; /* why plans with the recipe are refused; ERROR_NONE: they are not */
    json_t *warnings;
};

/* Collects the data. A refusal is not an error here, but part of the answer. */
static void examine(const struct call *call, struct shown *shown)
{
    const struct recipe_lint_case lint = { shown->recipe, shown->place, shown->kind };
    struct error problem;

    if (!recipe_fit(shown->recipe, call->services->catalog, &shown->fit, &shown->refusal))
        text_copy(shown->fit.arithmetic, sizeof shown->fit.arithmetic, shown->refusal.message);
    else if (recipe_fit_check(shown->recipe, call->services->catalog, &shown->refusal))
        shown->refusal = (struct error){ 0 };
    if (!recipe_lint(&lint, shown->warnings, &problem) && shown->refusal.kind == ERROR_NONE)
        shown->refusal = problem;
    price_of(call->services->prices, shown->recipe, shown->place, shown->kind, &shown->price);
}

static json_t *fit_json(const struct recipe_fit *fit)
{
    json_t *object = json_pack("{s:s}", "arithmetic", fit->arithmetic);

    if (fit->known) {
        json_object_set_new(object, "fits", json_boolean(fit->fits));
        json_object_set_new(object, "kv_tokens", json_integer(fit->kv_tokens));
    }
    return object;
}

static json_t *price_json(const struct shown *shown)
{
    json_t *object = json_pack("{s:s, s:s, s:s}", "breakdown", shown->price.breakdown, "place",
                               shown->place, "kind", shown->kind);

    if (shown->price.known)
        json_object_set_new(object, "usd_per_hour", json_real(shown->price.usd_per_hour));
    return object;
}

static void copy_list(json_t *structured, const struct recipe *recipe, const char *name)
{
    const json_t *list = recipe_member(recipe, name);

    if (json_array_size(list) > 0)
        json_object_set_new(structured, name, json_deep_copy(list));
}

static json_t *structure(const struct call *call, const struct shown *shown)
{
    const struct recipe *recipe = shown->recipe;
    json_t *object =
        json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "recipe", recipe_answer_json(recipe),
                  "source", recipe->source, "as_of", recipe->as_of, "fit", fit_json(&shown->fit),
                  "price", price_json(shown), "overrides", recipe_overrides(recipe), "command",
                  recipe_argv(recipe, "DEPLOYMENT"));

    copy_list(object, recipe, "places");
    copy_list(object, recipe, "kinds");
    copy_list(object, recipe, "notes");
    json_object_set(object, "warnings", shown->warnings);
    if (shown->refusal.kind != ERROR_NONE)
        json_object_set_new(object, "refused", json_string(shown->refusal.message));
    if (call_boolean(call, "detail", false))
        json_object_set_new(object, "document", json_deep_copy(recipe->document));
    json_drop_blank(object);
    return object;
}

static void write_sentences(const char *heading, const json_t *list, struct text *out)
{
    const json_t *sentence;
    size_t i;

    json_array_foreach(list, i, sentence)
        text_addf(out, "%s%s\n", heading, json_string_value(sentence));
}

static void write_overrides(const struct recipe *recipe, struct text *out)
{
    json_auto_t *opened = recipe_overrides(recipe);
    const char *name, *before = "Can be overridden: ";
    json_t *range;

    json_object_foreach(opened, name, range) {
        text_addf(out, "%s%s ", before, name);
        json_add(out, json_object_get(range, "value"));
        if (json_object_get(range, "choices") != NULL) {
            text_add(out, " (one of ");
            json_add(out, json_object_get(range, "choices"));
            text_add_char(out, ')');
        } else
            text_addf(out, " (%.10g to %.10g)", json_get_number(range, "least", 0),
                      json_get_number(range, "most", 0));
        before = ", ";
    }
    if (json_object_size(opened) > 0)
        text_add_char(out, '\n');
}

static void write_command(const struct recipe *recipe, struct text *out)
{
    json_auto_t *argv = recipe_argv(recipe, "DEPLOYMENT");
    const char *service = recipe_text(recipe, "service", "");

    if (service[0] != '\0') {
        text_addf(out, "Uses: the %s service that runs on this machine\n", service);
        return;
    }
    text_addf(out, "Runs: %s",
              recipe->image[0] != '\0' ? recipe->image : recipe_text(recipe, "program", ""));
    for (size_t i = 0; i < json_array_size(argv); i++)
        text_addf(out, " %s", json_string_value(json_array_get(argv, i)));
    text_add_char(out, '\n');
}

static void describe(const struct shown *shown, struct text *out)
{
    const struct recipe *recipe = shown->recipe;
    char hardware[RECIPE_HARDWARE_SIZE];

    text_addf(out, "%s (%s, revision %lld): %s\n", recipe->name, recipe_origin_name(recipe->origin),
              (long long)recipe->revision, recipe->title);
    text_addf(out, "%s on %s%s%s\n", recipe->model,
              recipe->hardware[0] == '\0' ? "" : recipe_answer_hardware(recipe, hardware),
              recipe->hardware[0] == '\0' ? "" : ", ", recipe->provider);
    text_addf(out, "Status: %s (%s, %s)\n", recipe_answer_status(recipe), recipe->source,
              recipe->as_of);
    if (shown->refusal.kind != ERROR_NONE)
        text_addf(out, "Refused: %s\n", shown->refusal.message);
    text_addf(out, "Memory: %s\n", shown->fit.arithmetic);
    text_addf(out, "Price%s%s%s%s: %s\n", shown->kind[0] == '\0' ? "" : ", ", shown->kind,
              shown->place[0] == '\0' ? "" : " in ", shown->place, shown->price.breakdown);
    write_command(recipe, out);
    write_overrides(recipe, out);
    write_sentences("Note: ", recipe_member(recipe, "notes"), out);
    write_sentences("Warning: ", shown->warnings, out);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *place = call_text(call, "place"), *kind = call_text(call, "kind");
    json_auto_t *warnings = json_array();
    struct recipe found, recipe;
    struct shown shown = { .recipe = &recipe, .warnings = warnings };
    bool done;

    if (!recipe_shelf_find(call->services, call_text(call, "recipe"), &found, error))
        return false;
    done = recipe_override_texts(&found, json_object_get(call->arguments, "overrides"), &recipe,
                                 error);
    recipe_finish(&found);
    if (!done)
        return false;
    shown.place = place == NULL ? first_of(&recipe, "places") : place;
    shown.kind = kind == NULL ? first_of(&recipe, "kinds") : kind;
    examine(call, &shown);
    answer->structured = structure(call, &shown);
    describe(&shown, &answer->text);
    recipe_finish(&recipe);
    return true;
}

const struct tool tool_recipe_show = {
    .name = "recipe_show",
    .title = "Show a recipe",
    .help = "Shows a recipe: its command, whether the model fits into memory, the price per "
            "hour with its sources, and what a plan may override.",
    .more = "Prices are list prices, each with its source and date. Only overridable members "
            "can be changed.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
