/* SPDX-License-Identifier: Apache-2.0 */
/* plan_approve: asks the user of the client to agree to a plan. */

#include "base/core/clock.h"
#include "handlers/answer.h"
#include "handlers/fleet/plan_answer.h"
#include "handlers/fleet/plan_consent.h"

static const struct param params[] = {
    { "plan", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id of the plan." },
    { 0 },
};

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    struct fleet_plan_row row;
    bool given;

    if (!fleet_plan_find(call->services->store, call_text(call, "plan"), &row, error))
        return false;
    given = plan_consent_ask(call, &row, error);
    fleet_plan_finish(&row);
    return given;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct store *store = call->services->store;
    const char *id = call_text(call, "plan");
    struct fleet_plan_row row;
    bool done;

    if (!fleet_plan_approve(store, id, FLEET_WAY_PERSON, clock_utc_ms(), &call->change, error)
        || !fleet_plan_find(store, id, &row, error))
        return false;
    text_addf(&answer->text, "%s agreed to:\n", call->principal.name);
    done = plan_answer(call, &row, answer, error);
    if (done)
        answer_next(answer, "deployment_apply with this plan");
    fleet_plan_finish(&row);
    return done;
}

const struct tool tool_plan_approve = {
    .name = "plan_approve",
    .title = "Agree to a plan",
    .help = "Asks the user of this client to agree to a plan. Where a target needs two people, the "
            "second one calls this tool as a different principal.",
    .more = "An agent cannot agree here. If the client cannot ask its user, an administrator runs "
            "`opsbrain plan approve ID`.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = plan_answer_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_YES,
    .go_ahead = go_ahead,
    .run = run,
};
