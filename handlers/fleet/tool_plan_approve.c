/* SPDX-License-Identifier: Apache-2.0 */
/* plan_approve: a person agrees to a plan that another, or an agent, made. */

#include "base/core/clock.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/consent.h"
#include "handlers/fleet/plan_answer.h"
#include "handlers/fleet/plan_consent.h"

static const struct param params[] = {
    { "plan", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id of the plan." },
    { 0 },
};

static const struct field fields[] = {
    { "plan", VALUE_OBJECT, .help = "The plan.", .fields = plan_answer_fields,
      .described_in = "deployment_plan" },
    FIELD_NEXT_STEP,
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
    struct answer shown = { 0 };
    struct fleet_plan_row row;
    bool done;

    if (!fleet_plan_approve(call->services->store, call_text(call, "plan"), FLEET_WAY_PERSON,
                            clock_utc_ms(), &call->change, error)
        || !fleet_plan_find(call->services->store, call_text(call, "plan"), &row, error))
        return false;
    done = plan_answer(call, &row, &shown, error);
    if (done) {
        answer->structured = json_pack("{s:O}", "plan", shown.structured);
        text_addf(&answer->text, "%s agreed to:\n%s", call->principal.name,
                  text_string(&shown.text));
        answer_next(answer, "deployment_apply with this plan");
    }
    answer_finish(&shown);
    fleet_plan_finish(&row);
    return done;
}

const struct tool tool_plan_approve = {
    .name = "plan_approve",
    .title = "Agree to a plan",
    .help = "Asks the person at this client to agree to a plan. Where a target demands two people, "
            "another principal does so.",
    .more = "An agent cannot agree: where the client cannot ask, an administrator runs "
            "`opsbrain plan approve ID`.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_YES,
    .go_ahead = go_ahead,
    .run = run,
};
