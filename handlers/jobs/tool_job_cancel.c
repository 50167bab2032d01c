/* SPDX-License-Identifier: Apache-2.0 */
/* job_cancel: requests that a job stop. */

#include "handlers/answers/job_answer.h"

static const struct param params[] = {
    PARAM_JOB,
    { 0 },
};

static const struct field fields[] = {
    { "job", VALUE_OBJECT, .help = "The job as it is now.", .fields = job_answer_fields,
      .described_in = "job_show" },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    char id[ID_SIZE];
    struct job job;

    if (!job_answer_id(call, id, error) || !job_pool_show(call->services->jobs, id, &job, error)
        || !job_answer_check_owner(call, job.id, job.principal, "stop it", error)
        || !job_pool_cancel(call->services->jobs, id, &call->change, &job, error))
        return false;
    answer->structured = json_pack("{s:o}", "job", job_answer_json(&job));
    job_answer_describe(&job, &answer->text);
    job_answer_shows(&job, answer);
    if (!job_is_over(&job))
        answer_next(answer, "job_show with wait_s: the job stops as soon as it can");
    return true;
}

const struct tool tool_job_cancel = {
    .name = "job_cancel",
    .title = "Cancel a job",
    .help = "Stops a job early. What it measured is kept; sweep_resume continues.",
    .more = "Operators can cancel only their own jobs.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WORKER,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = run,
};
