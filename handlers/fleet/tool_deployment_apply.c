/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_apply: carries out a plan, as a job, once it has its go-ahead. */

#include <string.h>

#include "base/core/clock.h"
#include "handlers/answer.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/fleet/plan_answer.h"
#include "handlers/fleet/plan_consent.h"
#include "handlers/fleet/target_answer.h"

static const struct param params[] = {
    { "plan", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id of the plan." },
    { "confirm", VALUE_TEXT, .low = 64, .high = 64,
      .help = "The plan's digest: an agent's go-ahead, valid up to what the target lets agents "
              "approve.",
      .more = "Without it, the user is asked for a missing go-ahead." },
    { 0 },
};

/* Extending a deployment's life does not disturb a sweep, unless the platform can change the end
 * only while the server is stopped. */
static bool disturbs_no_sweep(const struct managed_plan *plan)
{
    bool stops = false;

    for (size_t i = 0; i < plan->step_count; i++)
        stops = stops || strcmp(plan->steps[i].name, provider_verb_name(VERB_STOP)) == 0;
    return strcmp(plan->row.verb, provider_verb_name(VERB_EXTEND)) == 0 && !stops;
}

/* Makes the plan again, because resources or prices may have changed since it was shown. */
static CHECKED bool check_now(const struct call *call, const struct fleet_plan_row *row,
                              struct error *error)
{
    const struct fleet_frame *frame;
    struct managed_plan plan;
    bool good;

    if (!target_answer_frame(call, &frame, error) || !plan_answer_check_not_moved(frame, error)
        || !managed_plan_again(frame, row, &plan, error))
        return false;
    good = disturbs_no_sweep(&plan)
           || deployment_argument_check_idle(call->services->store, row->deployment, error);
    managed_plan_finish(&plan);
    return good;
}

/* A plan that has begun needs no check: the call answers with the plan's job again. The user may
 * take an hour to agree, so the plan is checked a second time after that. */
static CHECKED bool check(struct call *call, const struct fleet_plan_row *row, struct error *error)
{
    const char *way;

    if (row->job_id[0] != '\0')
        return true;
    if (!check_now(call, row, error) || !plan_consent_way(call, row, &way, error))
        return false;
    return way == NULL || strcmp(way, FLEET_WAY_PERSON) != 0
           || (plan_consent_ask(call, row, error) && check_now(call, row, error));
}

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    struct fleet_plan_row row;
    bool given;

    if (!fleet_plan_find(call->services->store, call_text(call, "plan"), &row, error))
        return false;
    given = check(call, &row, error);
    fleet_plan_finish(&row);
    return given;
}

/* Stores the go-ahead of the first of two people, and says that a second person must agree, too. */
static CHECKED bool wait_for_second(struct call *call, const struct fleet_plan_row *row,
                                    const struct error *missing, struct answer *answer,
                                    struct error *error)
{
    if (!fleet_plan_approve(call->services->store, row->id, FLEET_WAY_PERSON, clock_utc_ms(),
                            &call->change, error))
        return false;
    answer->structured = json_pack("{s:s, s:s, s:s, s:b}", "plan", row->id, "deployment",
                                   row->deployment, "verb", row->verb, "started", 0);
    text_addf(&answer->text, "%s agreed; %s.\n", call->principal.name, missing->message);
    answer_next(answer, "plan_approve with this plan, by another principal");
    return true;
}

static CHECKED bool begin(struct call *call, const struct fleet_plan_row *row,
                          struct answer *answer, struct error *error)
{
    struct error missing;
    const char *way;

    if (!plan_consent_way(call, row, &way, error))
        return false;
    if (row->job_id[0] != '\0' || plan_consent_check(call, row, way, &missing))
        return plan_answer_begin(call, row, way, answer, error);
    if (missing.kind == ERROR_FORBIDDEN)
        return wait_for_second(call, row, &missing, answer, error);
    *error = missing;
    return false;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct fleet_plan_row row;
    bool done;

    if (!fleet_plan_find(call->services->store, call_text(call, "plan"), &row, error))
        return false;
    done = begin(call, &row, answer, error);
    fleet_plan_finish(&row);
    return done;
}

const struct tool tool_deployment_apply = {
    .name = "deployment_apply",
    .title = "Carry out a plan",
    .help = "Carries out a plan to create, update, start, scale or extend a deployment, as a job, "
            "after a go-ahead. It costs what the plan says.",
    .more = "Refused if anything that the plan depends on has changed. Wait with job_show; "
            "job_cancel undoes what was made. Once a new server is ready, it is registered.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = plan_answer_begun_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_YES,
    .changes_resources = true,
    .grows = true,
    .go_ahead = go_ahead,
    .run = run,
};
