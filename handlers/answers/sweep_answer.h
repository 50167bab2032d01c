/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps as tools show them. */
#pragma once

#include "analysis/report/report.h"
#include "handlers/answer.h"
#include "store/ledger/sweeps.h"

extern const struct field sweep_answer_fields[], sweep_answer_finding_fields[];
/* A field of sweep_start and sweep_resume. It is only in the final result of a task, not in the
 * answer that says that the job was started. */
#define FIELD_OUTCOME                                                                              \
    {                                                                                              \
        "outcome", VALUE_OBJECT,                                                                   \
            .optional = true,                                                                      \
            .help = "Once it has ended: how, and how many cells are in each state."                \
    }
json_t *sweep_answer_json(const struct sweep_row *sweep); /* new reference */

/* Adds "Plan: concurrency=[1,4], window_s=5.": the settings that differ from the defaults. */
void sweep_answer_describe_plan(const json_t *plan, struct text *out);
bool sweep_answer_is_active(const struct sweep_row *sweep);
/* The name of an A/B sweep's second deployment; NULL: there is none. */
const char *sweep_answer_candidate(const struct sweep_row *sweep);
/* Adds lines with the sweep's state, its plan and, if it ended without being completed, the
 * reason. */
void sweep_answer_describe(const struct sweep_row *sweep, struct text *out);
#define FINDINGS_HELP "Saturation point and largest load that meets the limits, as far as measured."
/* Adds the findings that FINDINGS_HELP describes, for the cells of one deployment: as the member
 * `findings`, and as lines of text. */
void sweep_answer_add_findings(const struct report_input *input, struct answer *answer);
void sweep_answer_rows_free(struct sweep_row *rows, size_t count);
