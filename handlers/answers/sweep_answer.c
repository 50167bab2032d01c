/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/sweep_answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

const struct field sweep_answer_fields[] = {
    { "id", VALUE_TEXT, .help = "Id of the sweep." },
    { "deployment", VALUE_TEXT, .help = "Deployment that is measured." },
    { "revision", VALUE_INTEGER, .told = TOLD_ALONE,
      .help = "Its revision when the sweep was started." },
    { "candidate", VALUE_TEXT, .optional = true,
      .help = "Of an A/B sweep: the deployment that is measured in turns with it; missing: none." },
    { "candidate_revision", VALUE_INTEGER, .optional = true,
      .help = "The candidate's revision when the sweep was started." },
    { "state", VALUE_TEXT,
      .help = "planned, running, completed, stopped (time limit or steady failure), cancelled or "
              "failed." },
    { "reason", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "Why it is not completed." },
    { "job", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "The latest job that works on it: for job_show." },
    { "principal", VALUE_TEXT, .help = "Who started it." },
    { "cells_total", VALUE_INTEGER,
      .help = "Cells of the grid times repetitions, of all its deployments." },
    { "cells_done", VALUE_INTEGER, .help = "Cells that are no longer pending." },
    { "cells_inferred", VALUE_INTEGER, .sparse = true,
      .help = "Of those, cells that an adaptive search had no need to measure." },
    { "repetitions", VALUE_INTEGER, .told = TOLD_IN_DETAIL,
      .help = "Runs of the grid on each deployment." },
    { "plan", VALUE_OBJECT, .told = TOLD_ALONE, .defaults_of = "sweep_plan",
      .help = "The plan, in the words of sweep_start's arguments." },
    { "plan_digest", VALUE_TEXT, .told = TOLD_IN_DETAIL,
      .help = "Digest of plan, deployments and revisions." },
    { "created_at", VALUE_TEXT, .optional = true, .help = "When it was asked for, UTC." },
    { "started_at", VALUE_TEXT, .told = TOLD_IN_DETAIL, .optional = true,
      .help = "When measuring began, UTC." },
    { "finished_at", VALUE_TEXT, .told = TOLD_IN_DETAIL, .optional = true,
      .help = "When it ended, UTC." },
    { 0 },
};

const char *sweep_answer_candidate(const struct sweep_row *sweep)
{
    return sweep->subject_count > 1 ? sweep->subjects[1].deployment : NULL;
}

json_t *sweep_answer_json(const struct sweep_row *sweep)
{
    json_t *json = json_pack(
        "{s:s, s:s, s:I, s:s?, s:s, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:s, s:o, s:o, s:o}",
        "id", sweep->id, "deployment", sweep->deployment, "revision", (json_int_t)sweep->revision,
        "candidate", sweep_answer_candidate(sweep), "state", sweep->state, "reason",
        answer_json_text(sweep->reason), "job", sweep->job_id, "principal", sweep->principal,
        "cells_total", (json_int_t)sweep->cells_total, "cells_done", (json_int_t)sweep->cells_done,
        "cells_inferred", (json_int_t)sweep->cells_inferred, "repetitions",
        (json_int_t)sweep->repetitions, "plan", answer_json_stored(sweep->plan), "plan_digest",
        sweep->plan_digest, "created_at", answer_json_time(sweep->created_ms), "started_at",
        answer_json_time(sweep->started_ms), "finished_at", answer_json_time(sweep->finished_ms));

    if (sweep->subject_count > 1)
        json_object_set_new(json, "candidate_revision",
                            json_integer((json_int_t)sweep->subjects[1].revision));
    return json;
}

bool sweep_answer_is_active(const struct sweep_row *sweep)
{
    return strcmp(sweep->state, "running") == 0 || strcmp(sweep->state, "planned") == 0;
}

void sweep_answer_describe_plan(const json_t *plan, struct text *out)
{
    json_auto_t *stated = tool_stated(tool_find("sweep_plan"), plan);

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
        text_addf(out, " in turns with %s (revision %" PRId64 ")", sweep->subjects[i].deployment,
                  sweep->subjects[i].revision);
    text_addf(out, " is %s: %" PRId64 " of %" PRId64 " cells done", sweep->state, sweep->cells_done,
              sweep->cells_total);
    if (sweep->cells_inferred > 0)
        text_addf(out, " (%" PRId64 " measured, %" PRId64 " inferred)",
                  sweep->cells_done - sweep->cells_inferred, sweep->cells_inferred);
    text_addf(out, "; job %s, by %s, asked for %s.\n", sweep->job_id, sweep->principal,
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
      .help = "Per context: the smallest load with 95 % of the most tokens/s lies from low_users "
              "to high_users; reached false: or beyond. `measure_next`: loads that would tell." },
    { "limits", VALUE_LIST,
      .help = "Per context: `met`, the largest load that meets the plan's limits (missing: none "
              "does), and `missed`, the next one; empty without limits." },
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
