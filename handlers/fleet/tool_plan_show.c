/* SPDX-License-Identifier: Apache-2.0 */
/* plan_show: shows a plan, and who agreed to it. */

#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/fleet/plan_answer.h"

static const struct param params[] = {
    { "plan", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id of the plan." },
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct fleet_plan_row row;
    bool done;

    if (!fleet_plan_find(call->services->store, call_text(call, "plan"), &row, error))
        return false;
    done = plan_answer(call, &row, answer, error);
    if (done)
        answer_next(answer, row.job_id[0] != '\0' ? "job_show with this job"
                            : json_get_boolean(answer->structured, "waits", false)
                                ? "deployment_apply with this plan"
                                : "deployment_plan again");
    fleet_plan_finish(&row);
    return done;
}

const struct tool tool_plan_show = {
    .name = "plan_show",
    .title = "Show a plan",
    .help = "Shows a plan as it was made: requests, cost, end, who agreed, and what became of it.",
    .more = "fleet_list has the ids of waiting plans.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = plan_answer_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
