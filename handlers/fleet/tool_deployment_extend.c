/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_extend: plans a later or earlier end for a deployment. */

#include "handlers/fleet/plan_answer.h"

static const struct param params[] = {
    PARAM_MANAGED_DEPLOYMENT,
    { "life_s", VALUE_INTEGER, .required = true, .low = 600, .high = 366 * 86400,
      .help = "Seconds from now until it ends." },
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    return plan_answer_change(call, VERB_EXTEND, answer, error);
}

const struct tool tool_deployment_extend = {
    .name = "deployment_extend",
    .title = "Plan a new end for a deployment",
    .help =
        "Plans a later or earlier end for a managed deployment, in opsbrain and on its platform. "
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
