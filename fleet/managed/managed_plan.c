/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_plan.h"

#include <string.h>

#include "fleet/managed/plan_private.h"

void managed_plan_finish(struct managed_plan *plan)
{
    recipe_finish(&plan->recipe);
    observed_finish(&plan->observed);
    step_list_free(plan->steps, plan->step_count);
    json_decref(plan->wish);
    json_decref(plan->document);
    fleet_plan_finish(&plan->row);
    *plan = (struct managed_plan){ 0 };
}

/* Returns how many servers may run at once after the plan. */
static int64_t count_replicas(const struct making *making, const struct managed_plan *plan)
{
    enum provider_verb verb = making->wish.verb;

    if (plan->target.provider->keeps_replicas && (verb == VERB_UPDATE || verb == VERB_EXTEND)
        && plan->observed.replicas > 0)
        return plan->observed.replicas;
    return desired_replicas(&plan->desired);
}

static void find_price(struct making *making, struct managed_plan *plan)
{
    plan->row.usd_known = 1;
    if (plan_ends_server(making->wish.verb))
        return;
    plan->row.usd_known = 0;
    if (plan->desired.recipe == NULL)
        return;
    making->frame->price(making->frame->context, plan->desired.recipe, plan->desired.place,
                         making->wish.kind, &making->price);
    plan->row.usd_known = making->price.known;
    if (making->price.known)
        plan->row.usd_per_hour = making->price.usd_per_hour * (double)count_replicas(making, plan);
}

static void fill_row(const struct making *making, struct managed_plan *plan)
{
    struct fleet_plan_row *row = &plan->row;

    if (making->id == NULL)
        random_id("pln", row->id);
    else
        text_copy(row->id, sizeof row->id, making->id);
    text_copy(row->verb, sizeof row->verb, provider_verb_name(making->wish.verb));
    text_copy(row->deployment, sizeof row->deployment, making->wish.deployment);
    text_copy(row->target, sizeof row->target, plan->target.plain.name);
    text_copy(row->at_end, sizeof row->at_end, row->ends_ms == 0 ? "" : making->wish.at_end);
    row->target_revision = plan->target.plain.revision;
    row->created_ms = making->created_ms;
    row->good_until_ms = making->created_ms + PLAN_GOOD_MS;
}

static CHECKED bool make(struct making *making, struct managed_plan *plan, struct error *error)
{
    const struct provider *provider;
    const char *place;

    if (!plan_wish_read(making, plan, &place, error))
        return false;
    provider = plan->target.provider;
    fill_row(making, plan);
    plan_fill_desired(making, plan, place);
    if (!provider->observe(making->cloud, &plan->desired, &plan->observed, error)
        || !plan_check_observed(making, &plan->observed, error)
        || !provider->steps(making->wish.verb, &plan->desired, &plan->observed, &plan->steps,
                            &plan->step_count, error))
        return false;
    find_price(making, plan);
    if (!fleet_plan_within(&plan->target.row, &plan->row, error)
        || (!plan_ends_server(making->wish.verb) && !plan_check_guard(plan, error))
        || (making->id == NULL && !plan_check_requests(making, plan, error)))
        return false;
    plan_document_write(making, plan);
    return true;
}

bool managed_plan_build(struct making *making, struct managed_plan *out, struct error *error)
{
    bool done;

    *out = (struct managed_plan){ 0 };
    done = make(making, out, error);
    fleet_managed_finish(&making->managed);
    json_decref(making->before);
    json_decref(making->warnings);
    if (!done)
        managed_plan_finish(out);
    return done;
}

bool managed_plan_make(const struct fleet_frame *frame, const struct managed_wish *wish,
                       struct managed_plan *out, struct error *error)
{
    struct making making = { .frame = frame, .wish = *wish, .created_ms = frame->now_ms() };

    return managed_plan_build(&making, out, error);
}
