/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the wish for a plan. What the wish does not say is taken from the deployment's record. */
#include <string.h>

#include "base/json/json.h"
#include "fleet/managed/plan_private.h"
#include "fleet/recipes/recipe_lint.h"

#define SHORTEST_LIFE_MS (10 * 60000LL)
/* How many of a deployment's newest plans are searched for a recipe that has been removed. */
#define RECALLED_PLANS 100

static CHECKED bool find_managed(struct making *making, struct error *error)
{
    const struct managed_wish *wish = &making->wish;

    if (!fleet_managed_find(making->frame->store, wish->deployment, &making->managed,
                            &making->is_managed, error))
        return false;
    if (wish->verb == VERB_CREATE)
        return true;
    if (!making->is_managed)
        return error_set(error, ERROR_CONFLICT,
                         "%s is not managed by opsbrain: deployment_adopt takes over what runs on "
                         "a target",
                         wish->deployment);
    if (strcmp(making->managed.rights, "watched") == 0)
        return error_set(
            error, ERROR_FORBIDDEN,
            "%s was adopted without the right to change it: deployment_remove forgets it",
            wish->deployment);
    making->before = json_loads(making->managed.wish, 0, NULL);
    return true;
}

static void complete_wish(struct making *making)
{
    struct managed_wish *wish = &making->wish;
    const json_t *before = making->before;

    if (making->is_managed && wish->verb != VERB_CREATE)
        wish->target = making->managed.target;
    if (wish->recipe[0] == '\0')
        wish->recipe = json_get_text(before, "recipe", "");
    if (wish->overrides == NULL)
        wish->overrides = json_object_get(before, "overrides");
    if (wish->place[0] == '\0')
        wish->place = json_get_text(before, "place", "");
    if (wish->kind[0] == '\0')
        wish->kind = json_get_text(before, "kind", "on_demand");
    if (wish->replicas == 0)
        wish->replicas = json_get_integer(before, "replicas", 0);
    if (wish->at_end[0] == '\0')
        wish->at_end = json_get_text(before, "at_end", "destroy");
}

/* Reads the recipe, with its overrides, from a plan. Returns false if the plan was not carried out
 * or has no recipe of this name. */
static bool read_planned(const struct fleet_plan_row *row, const char *name, struct recipe *out)
{
    json_auto_t *document = json_loads(row->document, 0, NULL);
    const json_t *recipe = json_object_get(document, "recipe");
    struct error ignored;

    return strcmp(row->state, "done") == 0 && strcmp(json_get_text(recipe, "name", ""), name) == 0
           && recipe_read(json_object_get(recipe, "document"), out, &ignored);
}

/* Finds the recipe of an existing server in the deployment's plans. Returns false and leaves
 * `error` unchanged if there is none, or if the wish needs a recipe that still exists. */
static CHECKED bool recall_recipe(const struct making *making, struct recipe *out,
                                  struct error *error)
{
    const struct managed_wish *wish = &making->wish;
    struct fleet_plan_row *rows;
    bool found = false;
    size_t count;

    if (wish->verb == VERB_CREATE || wish->verb == VERB_UPDATE
        || !fleet_plan_list(making->frame->store, wish->deployment, RECALLED_PLANS, &rows, &count,
                            error))
        return false;
    for (size_t i = 0; i < count && !found; i++)
        found = read_planned(&rows[i], wish->recipe, out);
    fleet_plan_rows_free(rows, count);
    return found;
}

static CHECKED bool read_recipe(const struct making *making, struct managed_plan *plan,
                                struct error *error)
{
    const struct managed_wish *wish = &making->wish;
    struct recipe plain = { 0 };
    bool done;

    if (plan_ends_server(wish->verb) || (wish->recipe[0] == '\0' && wish->verb != VERB_CREATE))
        return true; /* ending a server needs no recipe, and an adopted server may have none */
    if (!managed_target_allows(&plan->target, wish->recipe))
        return error_set(error, ERROR_FORBIDDEN,
                         "the target %s does not allow the recipe %s: target_show lists the "
                         "recipes that it allows",
                         plan->target.plain.name, wish->recipe);
    if (!making->frame->recipe(making->frame->context, wish->recipe, &plain, error))
        return error->kind == ERROR_NOT_FOUND && recall_recipe(making, &plan->recipe, error);
    if (strcmp(plain.provider, plan->target.plain.provider) == 0)
        done = recipe_override(&plain, wish->overrides, &plan->recipe, error)
               && making->frame->fit(&plan->recipe, making->frame->catalog, error);
    else
        done = error_set(error, ERROR_INVALID, "the recipe %s is for %s, but the target %s uses %s",
                         plain.name, plain.provider, plan->target.plain.name,
                         plan->target.plain.provider);
    recipe_finish(&plain);
    return done;
}

/* Refuses only a creation or an update: a new lint rule must not prevent, for example, the
 * extension of a running server. */
static CHECKED bool lint_recipe(struct making *making, const struct managed_plan *plan,
                                const char *place, struct error *error)
{
    const struct recipe_lint_case candidate = { &plan->recipe, place, making->wish.kind };
    bool may_refuse = making->wish.verb == VERB_CREATE || making->wish.verb == VERB_UPDATE;
    struct error problem;

    making->warnings = json_array();
    if (plan->recipe.document == NULL || recipe_lint(&candidate, making->warnings, &problem))
        return true;
    if (may_refuse) {
        *error = problem;
        return false;
    }
    json_array_append_new(making->warnings,
                          json_sprintf("A new server would be refused: %s.", problem.message));
    return true;
}

/* ---- When it ends ---- */

static CHECKED bool find_end(const struct making *making, int64_t *ends_ms, struct error *error)
{
    const struct managed_wish *wish = &making->wish;
    int64_t now_ms = making->frame->now_ms();

    *ends_ms = making->is_managed ? making->managed.ends_ms : 0;
    if (making->id != NULL)
        *ends_ms = making->ends_ms;
    else if (wish->life_s > 0)
        *ends_ms = making->created_ms + wish->life_s * 1000;
    else if (wish->verb == VERB_EXTEND)
        return error_set(
            error, ERROR_INVALID,
            "\"life_s\" is missing: give the number of seconds for which %s is to keep running",
            wish->deployment);
    if (*ends_ms == 0 || plan_ends_server(wish->verb) || *ends_ms >= now_ms + SHORTEST_LIFE_MS)
        return true;
    return error_set(error, making->id == NULL ? ERROR_INVALID : ERROR_CONFLICT,
                     "%s would end in less than ten minutes: %s", wish->deployment,
                     making->id == NULL ? "give a longer life_s" : "make a new plan");
}

bool plan_wish_read(struct making *making, struct managed_plan *plan, const char **place,
                    struct error *error)
{
    const struct fleet_frame *frame = making->frame;

    if (!find_managed(making, error))
        return false;
    complete_wish(making);
    return managed_target_find(frame, making->wish.target, &plan->target, error)
           && provider_check_verb(plan->target.provider, making->wish.verb, error)
           && read_recipe(making, plan, error)
           && managed_target_place(&plan->target, making->wish.place, place, error)
           && lint_recipe(making, plan, *place, error)
           && find_end(making, &plan->row.ends_ms, error)
           && frame->cloud(frame->context, &plan->target.plain, &making->cloud, error);
}

void plan_fill_desired(const struct making *making, struct managed_plan *plan, const char *place)
{
    const struct managed_wish *wish = &making->wish;

    plan->desired =
        (struct desired){ .target = &plan->target.plain,
                          .recipe = plan->recipe.document == NULL ? NULL : &plan->recipe,
                          .deployment = plan->row.deployment,
                          .instance = making->frame->instance,
                          .place = place,
                          .kind = wish->kind,
                          .made_ms = making->created_ms,
                          .ends_ms = plan->row.ends_ms,
                          .end_destroys = strcmp(wish->at_end, "stop") != 0,
                          .replicas = wish->replicas,
                          .request_seed = plan->row.id };
}
