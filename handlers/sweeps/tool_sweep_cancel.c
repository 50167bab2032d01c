/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_cancel: requests that a sweep stop. */

#include "handlers/answers/job_answer.h"
#include "handlers/answers/sweep_answer.h"

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Its id (swp_...)." },
    { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .help = "The sweep as it is now.", .fields = sweep_answer_fields,
      .described_in = "sweep_show" },
    { "job", VALUE_OBJECT, .help = "Its job as it is now.", .fields = job_answer_fields,
      .described_in = "job_show" },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool cancel(struct call *call, const char *id, struct job *job, struct error *error)
{
    struct sweep_row sweep;
    bool done;

    if (!sweep_find(call->services->store, id, &sweep, error))
        return false;
    if (sweep_answer_is_active(&sweep))
        done = job_answer_check_owner(call, sweep.id, sweep.principal, "stop it", error)
               && job_pool_cancel(call->services->jobs, sweep.job_id, &call->change, job, error);
    else
        done =
            error_set(error, ERROR_CONFLICT, "%s is not running: it is %s", sweep.id, sweep.state);
    sweep_row_finish(&sweep);
    return done;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *id = call_text(call, "sweep");
    struct sweep_row sweep;
    struct job job;

    if (!cancel(call, id, &job, error) || !sweep_find(call->services->store, id, &sweep, error))
        return false;
    answer->structured =
        json_pack("{s:o, s:o}", "sweep", sweep_answer_json(&sweep), "job", job_answer_json(&job));
    sweep_answer_describe(&sweep, &answer->text);
    job_answer_describe(&job, &answer->text);
    text_add(&answer->text, "Finished cells are kept.\n");
    answer_next(answer, "sweep_resume continues it; run_report shows the finished cells");
    answer_shows(answer, "/sweeps/%s", sweep.id);
    sweep_row_finish(&sweep);
    return true;
}

const struct tool tool_sweep_cancel = {
    .name = "sweep_cancel",
    .title = "Cancel a benchmark",
    .help = "Stops a waiting or running sweep. Finished cells are kept; sweep_resume continues it.",
    .more = "The current cell is discarded. Operators can cancel their own sweeps, admins any.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WORKER,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = run,
};
