/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_stop: stops the server of a managed deployment. */

#include "handlers/consent.h"
#include "handlers/fleet/ending.h"
#include "handlers/fleet/plan_answer.h"

static const struct param params[] = {
    PARAM_MANAGED_DEPLOYMENT,
    PARAM_CONFIRM("The same name again, as confirmation."),
    { 0 },
};

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    return ending_go_ahead(call, VERB_STOP, "Stop it", error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    return ending_run(call, VERB_STOP, answer, error);
}

const struct tool tool_deployment_stop = {
    .name = "deployment_stop",
    .title = "Stop a managed deployment",
    .help = "Stops a managed deployment's server to save money; shows the requests and asks "
            "first. deployment_start starts it again.",
    .more = "The job is done when the platform shows the server as stopped. Refused while a sweep "
            "uses it.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = plan_answer_begun_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .open_world = true,
    .destroys = STATED_YES,
    .spends_money = STATED_NO,
    .changes_resources = true,
    .go_ahead = go_ahead,
    .run = run,
};
