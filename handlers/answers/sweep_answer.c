/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/sweep_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "handlers/answer_row.h"

const struct field sweep_answer_fields[] = {
    { "id", VALUE_TEXT, .help = "Id of the sweep.", ROW_TEXT(struct sweep_row, id) },
    { "deployment", VALUE_TEXT, .help = "Deployment that is measured.",
      ROW_TEXT(struct sweep_row, deployment) },
    { "revision", VALUE_INTEGER, .included = INCLUDED_OUTSIDE_LISTS,
      .help = "Its revision when the sweep was started.", ROW_INTEGER(struct sweep_row, revision) },
    { "candidate", VALUE_TEXT, .optional = true,
      .help = "In an A/B sweep: the second deployment, measured alternately with the first; "
              "missing: none." },
    { "candidate_revision", VALUE_INTEGER, .optional = true,
      .help = "The candidate's revision when the sweep was started." },
    { "state", VALUE_TEXT,
      .help = "planned, running, completed, stopped (early: see `reason`), cancelled or failed.",
      ROW_TEXT(struct sweep_row, state) },
    { "reason", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Why it is not completed.", ROW_TEXT_OR_NULL(struct sweep_row, reason) },
    { "job", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "Its latest job; job_show shows it.", ROW_TEXT(struct sweep_row, job_id) },
    { "principal", VALUE_TEXT, .help = "Who started it.", ROW_TEXT(struct sweep_row, principal) },
    { "cells_total", VALUE_INTEGER,
      .help = "Cells in the grid times repetitions, for all its deployments together.",
      ROW_INTEGER(struct sweep_row, cells_total) },
    { "cells_done", VALUE_INTEGER, .help = "Cells that are no longer pending.",
      ROW_INTEGER(struct sweep_row, cells_done) },
    { "cells_inferred", VALUE_INTEGER, .sparse = true,
      .help = "How many of cells_done an adaptive search did not need to measure.",
      ROW_INTEGER(struct sweep_row, cells_inferred) },
    { "repetitions", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL,
      .help = "Runs of the grid on each deployment.", ROW_INTEGER(struct sweep_row, repetitions) },
    { "plan", VALUE_OBJECT, .included = INCLUDED_OUTSIDE_LISTS, .defaults_of = "sweep_plan",
      .help = "The plan, as arguments for sweep_start.", ROW_HEAP_JSON(struct sweep_row, plan) },
    { "plan_digest", VALUE_TEXT, .included = INCLUDED_IN_DETAIL,
      .help = "Digest of the plan, the deployments and their revisions.",
      ROW_TEXT(struct sweep_row, plan_digest) },
    { "created_at", VALUE_TEXT, .optional = true, .help = "When it was requested, UTC.",
      ROW_TIME(struct sweep_row, created_ms) },
    { "started_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When measuring began, UTC.", ROW_TIME(struct sweep_row, started_ms) },
    { "finished_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When it ended, UTC.", ROW_TIME(struct sweep_row, finished_ms) },
    { 0 },
};

const char *sweep_answer_candidate(const struct sweep_row *sweep)
{
    return sweep->subject_count > 1 ? sweep->subjects[1].deployment : NULL;
}

json_t *sweep_answer_json(const struct sweep_row *sweep)
{
    json_t *candidate = NULL;

    if (sweep->subject_count > 1)
        candidate = json_pack("{s:s, s:I}", "candidate", sweep_answer_candidate(sweep),
                              "candidate_revision", (json_int_t)sweep->subjects[1].revision);
    return answer_row_take(sweep_answer_fields, sweep, candidate);
}

bool sweep_answer_is_active(const struct sweep_row *sweep)
{
    return strcmp(sweep->state, "running") == 0 || strcmp(sweep->state, "planned") == 0;
}

void sweep_answer_describe_plan(const json_t *plan, struct text *out)
{
    json_auto_t *stated = tool_omit_defaults(tool_find("sweep_plan"), plan);

    text_add(out, "Plan: ");
    answer_describe_members(stated, out);
}

void sweep_answer_describe(const struct sweep_row *sweep, struct text *out)
{
    json_auto_t *plan = answer_json_stored(sweep->plan);
    char time[TIME_SHOWN_SIZE];

    text_addf(out, "%s on %s (revision %" PRId64 ")", sweep->id, sweep->deployment,
              sweep->revision);
    for (size_t i = 1; i < sweep->subject_count; i++)
        text_addf(out, " alternating with %s (revision %" PRId64 ")", sweep->subjects[i].deployment,
                  sweep->subjects[i].revision);
    text_addf(out, " %s %s: %" PRId64 " of %" PRId64 " cells done",
              strcmp(sweep->state, "failed") == 0 ? "has" : "is", sweep->state, sweep->cells_done,
              sweep->cells_total);
    if (sweep->cells_inferred > 0)
        text_addf(out, " (%" PRId64 " of them inferred)", sweep->cells_inferred);
    text_addf(out, "; job %s, by %s, requested %s.\n", sweep->job_id, sweep->principal,
              answer_time(sweep->created_ms, time));
    sweep_answer_describe_plan(plan, out);
    if (sweep->reason[0] != '\0') {
        text_add(out, "Reason: ");
        text_add_printable(out, sweep->reason, strlen(sweep->reason), sizeof sweep->reason);
        text_add_char(out, '\n');
    }
}

const struct field sweep_answer_finding_fields[] = {
    { "output_tokens", VALUE_INTEGER, .help = "Answer length." },
    { "saturation", VALUE_LIST,
      .help = "Per context: the smallest load that reaches 95 % of the highest tokens/s is between "
              "low_users and high_users or, if `reached` is false, at least low_users. "
              "`measure_next`: loads to measure next, to narrow this range." },
    { "limits", VALUE_LIST,
      .help =
          "Per context: `met`, the largest load that meets the plan's limits (missing: none "
          "does), and `missed`, the next larger load, which misses them; empty without limits." },
    { 0 },
};

void sweep_answer_add_findings(const struct report_input *input, struct answer *answer)
{
    json_object_set_new(answer->structured, "findings", report_findings_json(input));
    report_findings(input, &answer->text);
}

void sweep_answer_rows_free(struct sweep_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sweep_row_finish(&rows[i]);
    free(rows);
}
