/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/job_answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json/json.h"
#include "handlers/answer_row.h"
#include "store/ledger/sweeps.h"

const struct field job_answer_fields[] = {
    { "id", VALUE_TEXT, .help = "Id of the job.", ROW_TEXT(struct job, id) },
    { "kind", VALUE_TEXT,
      .help = "Kind of work: sweep, or apply (carries out a plan for a deployment).",
      ROW_TEXT(struct job, kind) },
    { "subject", VALUE_TEXT, .help = "Id of the sweep or the plan.",
      ROW_TEXT(struct job, subject) },
    { "state", VALUE_TEXT,
      .help = "queued, waiting (for an answer), running, completed, failed or cancelled." },
    { "principal", VALUE_TEXT, .help = "Who started it.", ROW_TEXT(struct job, principal) },
    { "progress", VALUE_NUMBER, .help = "How much of progress_total is done." },
    { "progress_total", VALUE_NUMBER, .help = "How much there is to do in all; 0: not known yet.",
      ROW_NUMBER(struct job, progress_total) },
    { "message", VALUE_TEXT, .optional = true,
      .help = "What it is doing; missing once it has ended." },
    { "cancel_requested", VALUE_BOOLEAN, .sparse = true, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "True: it was asked to stop." },
    { "created_at", VALUE_TEXT, .optional = true, .help = "When it was requested, UTC.",
      ROW_TIME(struct job, created_ms) },
    { "started_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When it was first started, UTC.", ROW_TIME(struct job, started_ms) },
    { "finished_at", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "When it ended, UTC; missing: not yet.", ROW_TIME(struct job, finished_ms) },
    { "outcome", VALUE_OBJECT, .sparse = true, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "Its result; for a failed job {\"error\": ...}." },
    { 0 },
};

/* Omits the sweep's id, which is the job's subject, and members that are 0, false or empty. */
static json_t *outcome_json(const struct job *job)
{
    json_t *outcome = answer_json_stored(job->outcome);

    json_object_del(outcome, "sweep");
    json_drop_blank(outcome);
    return outcome;
}

/* Rounds the progress down, so that it agrees with the sweep's number of finished cells. */
json_t *job_answer_json(const struct job *job)
{
    return answer_row_take(
        job_answer_fields, job,
        json_pack("{s:s, s:f, s:o, s:b, s:o}", "state", job_state_name(job->state), "progress",
                  floor(job->progress), "message",
                  answer_json_text(job_is_over(job) ? "" : job->message), "cancel_requested",
                  job->cancel_requested_ms != 0, "outcome", outcome_json(job)));
}

static void add_news(const char *news, struct text *out)
{
    if (news[0] == '\0')
        return;
    text_add(out, ": ");
    text_add_printable(out, news, strlen(news), 480);
}

void job_answer_describe(const struct job *job, struct text *out)
{
    json_auto_t *outcome = answer_json_stored(job->outcome);
    char time[TIME_SHOWN_SIZE];

    text_addf(out, "%s (%s %s, by %s, requested %s", job->id, job->kind, job->subject,
              job->principal, answer_time(job->created_ms, time));
    if (job->finished_ms != 0)
        text_addf(out, ", ended %s", answer_time(job->finished_ms, time));
    text_addf(out, ") %s %s", job->state == JOB_FAILED ? "has" : "is", job_state_name(job->state));
    if (job->progress_total > 0)
        text_addf(out, ", %.0f of %.0f %s", floor(job->progress), job->progress_total,
                  strcmp(job->kind, "sweep") == 0 ? "cells" : "done");
    if (strcmp(json_get_text(outcome, "state", ""), "stopped") == 0)
        text_add(out, ", stopped");
    if (job->cancel_requested_ms != 0 && !job_is_over(job))
        text_add(out, ", asked to stop");
    if (!job_is_over(job))
        add_news(job->message, out);
    else if (job->state == JOB_FAILED)
        add_news(json_get_text(outcome, "error", ""), out);
    else
        add_news(json_get_text(outcome, "reason", ""), out);
    text_add_char(out, '\n');
}

bool job_answer_id(const struct call *call, char out[ID_SIZE], struct error *error)
{
    const char *id = call_text(call, "job");
    struct sweep_row sweep;

    if (strncmp(id, "swp_", 4) != 0) {
        text_copy(out, ID_SIZE, id);
        return true;
    }
    if (!sweep_find(call->services->store, id, &sweep, error))
        return false;
    text_copy(out, ID_SIZE, sweep.job_id);
    sweep_row_finish(&sweep);
    return true;
}

bool job_answer_check_owner(const struct call *call, const char *what, const char *principal,
                            const char *act, struct error *error)
{
    if (role_allows(call->principal.role, ROLE_ADMIN)
        || strcmp(call->principal.name, principal) == 0)
        return true;
    return error_set(error, ERROR_FORBIDDEN, "%s was started by %s: only %s or an admin may %s",
                     what, principal, principal, act);
}

void job_answer_shows(const struct job *job, struct answer *answer)
{
    if (strcmp(job->kind, "sweep") == 0)
        answer_shows(answer, "/sweeps/%s", job->subject);
}

const char *job_answer_next_step(const struct job *job)
{
    if (job->state == JOB_WAITING)
        return "answer its question (with tasks/update, if the client supports tasks), or call "
               "job_cancel";
    if (strcmp(job->kind, "sweep") != 0)
        return job_is_over(job) ? "nothing: it has ended" : "job_show again with wait_s";
    if (!job_is_over(job))
        return "job_show again with wait_s; sweep_show lists the cells measured so far";
    return job->state == JOB_COMPLETED
               ? "run_report with this sweep"
               : "sweep_show lists what was measured; sweep_resume measures what is missing";
}
