/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_scale: plans a new number of replicas. */

#include "handlers/fleet/plan_answer.h"

static const struct param params[] = {
    PARAM_MANAGED_DEPLOYMENT,
    { "replicas", VALUE_INTEGER, .required = true, .low = 1, .high = 64,
      .help = "The new number of replicas." },
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    return plan_answer_change(call, VERB_SCALE, answer, error);
}

const struct tool tool_deployment_scale = {
    .name = "deployment_scale",
    .title = "Plan a new number of replicas",
    .help = "Plans a new replica count for a managed deployment; shows its new cost. "
            "deployment_apply carries the plan out.",
    .more =
        "The plan needs a go-ahead, as for a new deployment; deployment_stop stops all replicas.",
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
