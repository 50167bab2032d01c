/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses a plan because of the observed state, the target's requirements, or a failed dry run. */
#include <string.h>

#include "fleet/managed/plan_private.h"

bool plan_check_observed(const struct making *making, const struct observed *observed,
                         struct error *error)
{
    const char *name = making->wish.deployment;
    bool adopted = making->is_managed && strcmp(making->managed.rights, "adopted") == 0;

    if (making->wish.verb == VERB_CREATE && observed->exists)
        return error_set(error, ERROR_CONFLICT,
                         observed->ours
                             ? "%s already exists on the target with this opsbrain's label: "
                               "deployment_adopt takes it over"
                             : "%s exists on the target and is not opsbrain's: choose another name",
                         name);
    if (observed->exists && !observed->ours && !adopted)
        return error_set(
            error, ERROR_FORBIDDEN,
            "the resource %s on the target lacks this opsbrain's label, so it is not touched",
            name);
    if (!observed->exists && making->wish.verb != VERB_CREATE && making->wish.verb != VERB_DESTROY)
        return error_set(error, ERROR_CONFLICT,
                         "%s no longer exists on the target: deployment_destroy closes its record",
                         name);
    return true;
}

bool plan_check_guard(const struct managed_plan *plan, struct error *error)
{
    const struct fleet_target_row *target = &plan->target.row;

    if (plan->row.ends_ms == 0 || target->allows_no_guard
        || plan->target.provider->describe_guard(&plan->desired) != NULL)
        return true;
    return error_set(error, ERROR_FORBIDDEN,
                     "if opsbrain is gone, nothing will stop %s at its planned end, and the target "
                     "%s does not allow that: its allows_no_guard is false",
                     plan->row.deployment, target->name);
}

/* A GET checks a condition, such as that a secret exists; its error message is passed on as it
 * is. */
static CHECKED bool refuse(const struct step *step, enum error_kind kind, const char *sentence,
                           struct error *error)
{
    if (strcmp(step->method, "GET") == 0)
        return error_set(error, kind, "%s", sentence);
    return error_set(error, kind, "the dry run of the request \"%s\" failed: %s", step->name,
                     sentence);
}

/* Sends the dry run of a request. The provider judges the reply like a reply to the request
 * itself. */
static CHECKED bool rehearse(const struct making *making, const struct managed_plan *plan,
                             const struct step *step, struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error problem = { 0 }, verdict = { 0 };
    char ignored[1024] = "";
    bool answered = making->frame->call(making->cloud, step->method, step->dry_run_url,
                                        step->content_type[0] == '\0' ? NULL : step->content_type,
                                        step->body, &reply, &problem);
    enum step_state state = plan->target.provider->outcome(step, &reply, ignored, &verdict);

    if (state == STEP_DONE || state == STEP_WAIT)
        return true;
    return refuse(step, answered ? verdict.kind : problem.kind, verdict.message, error);
}

bool plan_check_requests(const struct making *making, const struct managed_plan *plan,
                         struct error *error)
{
    for (size_t i = 0; i < plan->step_count; i++)
        if (plan->steps[i].dry_run_url[0] != '\0'
            && !rehearse(making, plan, &plan->steps[i], error))
            return false;
    return true;
}
