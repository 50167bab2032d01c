/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/jobs/job_result.h"

#include <string.h>

#include "base/json/json.h"
#include "handlers/answers/job_answer.h"
#include "handlers/answers/job_verdict.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/call.h"

void job_failure(const struct job *job, struct error *error)
{
    json_auto_t *outcome = answer_json_stored(job->outcome);
    bool is_sweep = strcmp(job->kind, "sweep") == 0;

    error_set(error, error_kind_find(json_get_text(outcome, "kind", "")), "%.300s%s%s",
              json_get_text(outcome, "error", "it failed"), is_sweep ? ". Next: " : "",
              is_sweep ? job_answer_next_step(job) : "");
}

/* Adds a sentence such as "swp_1 is completed: 4 cells measured, 1 cell failed, in 12 s." */
static void describe_sweep(const struct job *job, const json_t *outcome, struct text *out)
{
    static const char *const states[] = { "measured", "infeasible", "failed", "skipped",
                                          "pending" };
    char duration[DURATION_SHOWN_SIZE];
    const char *between = ": ";

    text_addf(out, "%s is %s", job->subject, json_get_text(outcome, "state", "completed"));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        int64_t count = json_get_integer(outcome, states[i], 0);

        if (count == 0)
            continue;
        text_addf(out, "%s%lld cell%s %s", between, (long long)count, count == 1 ? "" : "s",
                  states[i]);
        between = ", ";
    }
    text_addf(out, ", in %s.\n", answer_duration(json_get_number(outcome, "seconds", 0), duration));
    if (json_get_text(outcome, "reason", NULL) != NULL)
        text_addf(out, "Reason: %s\n", json_get_text(outcome, "reason", ""));
}

/* Writes a result whose structure conforms to the fields of sweep_start and sweep_resume. */
static CHECKED bool sweep_result(const struct services *services, const struct job *job,
                                 struct answer *answer, struct error *error)
{
    json_t *outcome = answer_json_stored(job->outcome);
    struct sweep_row sweep;

    if (!sweep_find(services->store, job->subject, &sweep, error)) {
        json_decref(outcome);
        return false;
    }
    describe_sweep(job, outcome, &answer->text);
    answer->structured = json_pack("{s:o, s:s, s:o}", "sweep", sweep_answer_json(&sweep), "job",
                                   job->id, "outcome", outcome);
    sweep_row_finish(&sweep);
    if (!job_verdict_add(services, job, answer, error))
        return false;
    answer_next(answer, job_answer_next_step(job));
    job_answer_shows(job, answer);
    answer_condense(tool_find("sweep_start"), false, answer);
    return true;
}

bool job_result(const struct services *services, const struct job *job, struct answer *answer,
                struct error *error)
{
    json_auto_t *outcome = answer_json_stored(job->outcome);
    const char *text = json_get_text(outcome, "text", NULL);

    if (job->state == JOB_FAILED) {
        job_failure(job, error);
        return false;
    }
    if (strcmp(job->kind, "sweep") == 0)
        return sweep_result(services, job, answer, error);
    if (text != NULL)
        text_add(&answer->text, text);
    else
        job_answer_describe(job, &answer->text);
    return true;
}
