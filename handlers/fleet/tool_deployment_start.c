/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_start: plans the start of a stopped deployment. */

#include "handlers/fleet/plan_answer.h"

static const struct param params[] = {
    PARAM_MANAGED_DEPLOYMENT,
    { "life_s", VALUE_INTEGER, .low = 0, .high = 366 * 86400, .initial = "0",
      .help = "Seconds from now until it ends; 0: end unchanged." },
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    return plan_answer_change(call, VERB_START, answer, error);
}

const struct tool tool_deployment_start = {
    .name = "deployment_start",
    .title = "Plan the start of a stopped deployment",
    .help = "Plans to start a stopped deployment again: the exact requests, its cost and its end. "
            "deployment_apply carries the plan out.",
    .more = "The plan needs a go-ahead, as for a new deployment.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = plan_answer_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .grows = true,
    .run = run,
};
