/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a plan as JSON: what its digest covers, and the advice that is shown in addition. */
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_document.h"
#include "fleet/managed/plan_private.h"

static json_t *recipe_json(const struct managed_plan *plan)
{
    if (plan->desired.recipe == NULL)
        return json_null();
    return json_pack("{s:s, s:I, s:O}", "name", plan->recipe.name, "revision",
                     (json_int_t)plan->recipe.revision, "document", plan->recipe.document);
}

static json_t *price_json(const struct making *making, const struct managed_plan *plan)
{
    return json_pack("{s:b, s:f, s:s}", "known", (int)plan->row.usd_known, "usd_per_hour",
                     plan->row.usd_per_hour, "rows", making->price.rows);
}

static json_t *steps_json(const struct managed_plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->step_count; i++)
        json_array_append_new(list, managed_document_step(&plan->steps[i]));
    return list;
}

static json_t *commands_json(const struct managed_plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->step_count; i++) {
        TEXT_AUTO command = { 0 };

        plan->target.provider->command(&plan->desired, &plan->steps[i], &command);
        json_array_append_new(list, json_string(text_string(&command)));
    }
    return list;
}

/* Returns what is shown, but not covered by the digest. */
static json_t *advice_json(const struct making *making, const struct managed_plan *plan)
{
    const struct provider *provider = plan->target.provider;
    const char *guard = plan->row.ends_ms == 0 ? NULL : provider->describe_guard(&plan->desired);
    json_t *warnings = json_copy(making->warnings);

    if (plan->desired.recipe != NULL)
        provider->lint(&plan->desired, warnings);
    return json_pack("{s:s, s:s?, s:s, s:o, s:o}", "price", making->price.breakdown, "ends_by",
                     guard, "lock", provider->lock, "commands", commands_json(plan), "warnings",
                     warnings);
}

static json_t *wish_json(const struct making *making, const struct managed_plan *plan)
{
    const struct managed_wish *wish = &making->wish;

    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:s}", "recipe", wish->recipe, "overrides",
                     wish->overrides == NULL ? json_object() : json_deep_copy(wish->overrides),
                     "place", plan->desired.place, "kind", wish->kind, "replicas",
                     (json_int_t)wish->replicas, "at_end", wish->at_end);
}

void plan_document_write(const struct making *making, struct managed_plan *plan)
{
    const struct fleet_target *target = &plan->target.plain;
    FREE_AUTO char *canonical = NULL;

    plan->wish = wish_json(making, plan);
    plan->desired.kind = json_get_text(plan->wish, "kind", ""); /* lives as long as the plan */
    plan->document = json_pack(
        "{s:s, s:s, s:s, s:O, s:{s:s, s:I}, s:o, s:o, s:o, s:I, s:o}", "verb",
        provider_verb_name(making->wish.verb), "deployment", plan->row.deployment, "instance",
        making->frame->instance, "wish", plan->wish, "target", "name", target->name, "revision",
        (json_int_t)target->revision, "recipe", recipe_json(plan), "observed",
        managed_document_basis(&plan->observed), "price", price_json(making, plan), "ends_ms",
        (json_int_t)plan->row.ends_ms, "steps", steps_json(plan));
    canonical = json_write_canonical(plan->document);
    digest_sha256_text(canonical, strlen(canonical), plan->row.digest);
    json_object_set_new(plan->document, "advice", advice_json(making, plan));
    plan->row.document = json_write(plan->document);
}
