/* SPDX-License-Identifier: Apache-2.0 */
/* Who must approve a plan, and which limits on cost and lifetime it must keep. */
#include <string.h>

#include "store/fleet/fleet_plans.h"

#define HOUR_MS 3600000.0

static bool is_ending(const struct fleet_plan_row *plan)
{
    return strcmp(plan->verb, "stop") == 0 || strcmp(plan->verb, "destroy") == 0;
}

static bool is_by_agent(const struct fleet_approval *approval)
{
    return strcmp(approval->way, FLEET_WAY_AGENT) == 0;
}

/* Counts the people who approved; a person who approved in two ways counts once. */
static size_t count_people(const struct fleet_approval *approvals, size_t count)
{
    size_t people = 0;

    for (size_t i = 0; i < count; i++) {
        bool skipped = is_by_agent(&approvals[i]);

        for (size_t j = 0; j < i && !skipped; j++)
            skipped = !is_by_agent(&approvals[j])
                      && strcmp(approvals[i].principal, approvals[j].principal) == 0;
        people += !skipped;
    }
    return people;
}

/* An agent may always approve stopping or destroying a deployment. Unless the target requires two
 * people, an agent may also approve any other plan whose cost and end are known, up to the target's
 * ceilings for agents. */
static bool agent_may(const struct fleet_target_row *target, const struct fleet_plan_row *plan)
{
    double hours = (double)(plan->ends_ms - plan->created_ms) / HOUR_MS;

    return is_ending(plan)
           || (!target->needs_two && plan->usd_known && plan->ends_ms > 0 && target->agent_usd > 0
               && plan->usd_per_hour <= target->agent_usd
               && plan->usd_per_hour * hours <= target->agent_life_usd);
}

static CHECKED bool refuse(const struct fleet_target_row *target, const struct fleet_plan_row *plan,
                           size_t people, bool agent, struct error *error)
{
    if (target->needs_two)
        return error_set(error, ERROR_FORBIDDEN,
                         "the target %s requires the go-ahead of two people (so far: %zu): "
                         "another principal must approve the plan on the page /plans/%s or with "
                         "plan_approve, or somebody with a shell on the server must run `opsbrain "
                         "plan approve %s`",
                         target->name, people, plan->id, plan->id);
    return error_set(error, ERROR_FORBIDDEN,
                     "the plan %s needs a person's go-ahead%s: in a client that can ask its user "
                     "(deployment_apply, plan_approve), on the page /plans/%s, or with "
                     "`opsbrain plan approve %s`",
                     plan->id, agent ? ", because an agent may not approve it on this target" : "",
                     plan->id, plan->id);
}

bool fleet_plan_allowed(const struct fleet_target_row *target, const struct fleet_plan_row *plan,
                        const struct fleet_approval *approvals, size_t count, struct error *error)
{
    size_t people = count_people(approvals, count);
    bool agent = false;

    for (size_t i = 0; i < count; i++)
        agent = agent || is_by_agent(&approvals[i]);
    if (is_ending(plan) && people + agent > 0)
        return true;
    if (people >= (target->needs_two ? 2 : 1) || (agent && agent_may(target, plan)))
        return true;
    return refuse(target, plan, people, agent, error);
}

static CHECKED bool check_cost(const struct fleet_target_row *target,
                               const struct fleet_plan_row *plan, struct error *error)
{
    if (!plan->usd_known && !target->allows_no_price)
        return error_set(
            error, ERROR_FORBIDDEN,
            "the cost of %s is not known, and the target %s requires a known cost (its "
            "allows_no_price is false)",
            plan->deployment, target->name);
    if (plan->usd_per_hour <= target->deployment_usd)
        return true;
    return error_set(error, ERROR_FORBIDDEN,
                     "%s would cost %.2f USD per hour, and the target %s allows %.2f",
                     plan->deployment, plan->usd_per_hour, target->name, target->deployment_usd);
}

bool fleet_plan_within(const struct fleet_target_row *target, const struct fleet_plan_row *plan,
                       struct error *error)
{
    int64_t life_s = (plan->ends_ms - plan->created_ms) / 1000;

    if (is_ending(plan))
        return true;
    if (plan->ends_ms == 0 && !target->allows_no_end)
        return error_set(error, ERROR_FORBIDDEN, "the target %s requires an end: give life_s%s",
                         target->name, target->life_limit_s > 0 ? " within its limit" : "");
    if (plan->ends_ms != 0 && target->life_limit_s > 0 && life_s > target->life_limit_s)
        return error_set(error, ERROR_FORBIDDEN,
                         "a life of %lld s is longer than the %lld s that the target %s allows",
                         (long long)life_s, (long long)target->life_limit_s, target->name);
    return check_cost(target, plan, error);
}
