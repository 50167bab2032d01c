/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/ending.h"

#include <stdlib.h>
#include <string.h>

#include "handlers/answers/deployment_argument.h"
#include "handlers/consent.h"
#include "handlers/fleet/plan_answer.h"
#include "handlers/fleet/target_answer.h"

static CHECKED bool make(const struct call *call, enum provider_verb verb, struct managed_plan *out,
                         struct error *error)
{
    const struct managed_wish wish = plan_answer_wish(call, verb);
    const struct fleet_frame *frame;

    return target_answer_frame(call, &frame, error) && plan_answer_check_not_moved(frame, error)
           && plan_answer_check_owner(call, wish.deployment, error)
           && deployment_argument_check_idle(call->services->store, wish.deployment, error)
           && managed_plan_make(frame, &wish, out, error);
}

static void describe(const struct managed_plan *plan, struct text *out)
{
    text_addf(out, "%s %s on %s? %s", plan->row.verb, plan->row.deployment, plan->row.target,
              plan->step_count == 0 ? "No requests need to be sent."
                                    : "These requests will be sent:");
    for (size_t i = 0; i < plan->step_count; i++)
        text_addf(out, "\n- %.250s (%s %.300s)", plan->steps[i].summary, plan->steps[i].method,
                  plan->steps[i].url);
}

/* The user may take an hour to answer. In the meantime, a different server might have been created
 * under the deployment's name. */
static CHECKED bool check_same(const struct call *call, enum provider_verb verb,
                               const struct managed_plan *shown, struct error *error)
{
    struct managed_plan now;
    bool same;

    if (!make(call, verb, &now, error))
        return false;
    same = !now.observed.exists || strcmp(now.observed.uid, shown->observed.uid) == 0;
    managed_plan_finish(&now);
    return same
           || error_set(
               error, ERROR_CONFLICT,
               "%s is no longer the server that was shown, so it was not touched: call %s again",
               shown->row.deployment, call->change.tool);
}

bool ending_go_ahead(struct call *call, enum provider_verb verb, const char *title,
                     struct error *error)
{
    TEXT_AUTO shown = { 0 };
    TEXT_AUTO summary = { 0 };
    TEXT_AUTO declined = { 0 };
    struct managed_plan plan;
    bool given;

    if (!make(call, verb, &plan, error))
        return false;
    describe(&plan, &shown);
    text_addf(&summary, "This would %s %s on %s (requests: %zu; first: \"%.120s\").", plan.row.verb,
              plan.row.deployment, plan.row.target, plan.step_count,
              plan.step_count == 0 ? "none" : plan.steps[0].summary);
    text_addf(&declined, "%s stays as it is", plan.row.deployment);
    const struct consent consent = { .name = plan.row.deployment,
                                     .key = "end",
                                     .identity = plan.observed.uid,
                                     .title = title,
                                     .plan = text_string(&shown),
                                     .summary = text_string(&summary),
                                     .declined = text_string(&declined) };
    given = consent_get(call, &consent, error)
            && (call_text(call, "confirm") != NULL || check_same(call, verb, &plan, error));
    managed_plan_finish(&plan);
    return given;
}

bool ending_run(struct call *call, enum provider_verb verb, struct answer *answer,
                struct error *error)
{
    const char *way = call_text(call, "confirm") == NULL ? FLEET_WAY_PERSON : FLEET_WAY_AGENT;
    struct fleet_plan_row stored;
    struct managed_plan plan;
    bool done;

    if (!make(call, verb, &plan, error))
        return false;
    done = fleet_plan_add(call->services->store, &plan.row, &call->change, &stored, error);
    managed_plan_finish(&plan);
    if (!done)
        return false;
    done = plan_answer_begin(call, &stored, way, answer, error);
    fleet_plan_finish(&stored);
    return done;
}
