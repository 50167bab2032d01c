/* sweep_resume: a sweep that ended early goes on with the cells it is missing. */

#include <inttypes.h>

#include "base/clock.h"
#include "handlers/deployment_of.h"
#include "handlers/sweep_answer.h"

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .required = true, .low = 1, .high = 39,
      .help = "Id of the sweep (swp_...)." },
    { "retry_failed", VALUE_BOOLEAN, .initial = "false",
      .help = "Also measure the cells again that failed or were skipped, of runs that are not "
              "finished. A finished run is never changed: sweep_start with `corrects` measures it "
              "anew." },
    { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .help = "The sweep as it is now.", .fields = sweep_fields },
    { "job", VALUE_TEXT, .help = "The new job that works on it: for job_show." },
    FIELD_OUTCOME,
    { "next_step", VALUE_TEXT, .help = "What to call next." },
    { 0 },
};

/* The revision that was measured before is measured again, if it is still the one in use. */
static bool check_subject(const struct call *call, const struct sweep_row *sweep,
                          const struct sweep_subject *subject, struct error *error)
{
    ENDPOINT_AUTO endpoint = { 0 };
    struct deployment deployment;
    struct model_facts facts;
    struct error problem;

    if (!deployment_find(call->services->store, subject->deployment, &deployment, error))
        return false;
    if (deployment.id != subject->deployment_id || deployment.revision != subject->revision)
        return error_set(error, ERROR_CONFLICT,
                         "%s measured revision %" PRId64 " of %s, which is at revision %" PRId64
                         " now: its cells would not be of one thing. Start a new sweep",
                         sweep->id, subject->revision, subject->deployment, deployment.revision);
    if (deployment_discover(call->services, &deployment, &endpoint, &facts, &problem))
        return true;
    return error_set(error, problem.kind, "%s cannot be measured now: %s", deployment.name,
                     problem.message);
}

static bool check_subjects(const struct call *call, const struct sweep_row *sweep,
                           struct error *error)
{
    for (size_t i = 0; i < sweep->subject_count; i++)
        if (!check_subject(call, sweep, &sweep->subjects[i], error))
            return false;
    return true;
}

static bool check(const struct call *call, const char *id, struct error *error)
{
    struct sweep_row sweep;
    bool done;

    if (!sweep_find(call->services->store, id, &sweep, error))
        return false;
    if (sweep_is_active(&sweep))
        done = error_set(error, ERROR_CONFLICT, "%s is at work already (%s): job_show %s", id,
                         sweep.state, sweep.job_id);
    else
        done = check_subjects(call, &sweep, error);
    sweep_row_finish(&sweep);
    return done;
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    static const char next[] = "job_show with this job and wait_s 50, then run_report";
    const char *id = call_text(call, "sweep");
    struct sweep_row sweep;

    if (!check(call, id, error)
        || !sweep_reopen(call->services->store, id, call_boolean(call, "retry_failed", false),
                         clock_utc_ms(), &call->change, &sweep, error))
        return false;
    jobs_kick(call->services->jobs);
    answer->structured = json_pack("{s:o, s:s, s:s}", "sweep", sweep_json(&sweep), "job",
                                   sweep.job_id, "next_step", next);
    text_copy(answer->job_id, sizeof answer->job_id, sweep.job_id);
    sweep_describe(&sweep, &answer->text);
    text_addf(&answer->text, "Next: %s.\n", next);
    sweep_row_finish(&sweep);
    return true;
}

const struct tool tool_sweep_resume = {
    .name = "sweep_resume",
    .title = "Resume a benchmark",
    .help = "Goes on with a sweep that was stopped, cancelled or failed: measures the cells that "
            "are still missing, never those that are finished. (After a crash or restart of this "
            "server nothing needs to be done: sweeps go on by themselves.) Answers at once with "
            "the new job.",
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .open_world = true,
    .starts_job = true,
    .changes_resources = true,
    .run = run,
};
