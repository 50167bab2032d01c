/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/run_answer.h"

#include "handlers/answer_row.h"
#include "handlers/answers/import_answer.h"

const struct field run_answer_fields[] = {
    { "id", VALUE_TEXT, .help = "Id of the run.", ROW_TEXT(struct run_row, id) },
    { "imported", VALUE_BOOLEAN, .sparse = true,
      .help = "True: another tool measured it; the figures are from its file." },
    { "source", VALUE_OBJECT, .optional = true, .help = "For an imported run: its file.",
      .fields = import_answer_source_fields },
    { "sweep", VALUE_TEXT, .optional = true, .help = "Sweep it belongs to; missing: imported.",
      ROW_TEXT(struct run_row, sweep_id) },
    { "repetition", VALUE_INTEGER, .optional = true,
      .help = "Which repetition of the sweep's grid, from 1." },
    { "deployment", VALUE_TEXT, .optional = true, .help = "Deployment that was measured.",
      ROW_TEXT(struct run_row, deployment) },
    { "sweep_state", VALUE_TEXT, .included = INCLUDED_OUTSIDE_LISTS, .optional = true,
      .help = "State of the sweep.", ROW_TEXT(struct run_row, sweep_state) },
    { "fingerprint", VALUE_TEXT, .optional = true,
      .help = "Digest of what was measured; missing: the run is imported, or no cell was measured "
              "yet. Runs with the same digest are comparable.",
      ROW_TEXT_OR_NULL(struct run_row, fingerprint) },
    { "corrects", VALUE_TEXT, .optional = true,
      .help = "Earlier run that this one replaces (sweep_start with `corrects`); missing: none.",
      ROW_TEXT_OR_NULL(struct run_row, corrects) },
    { "corrected_by", VALUE_TEXT, .optional = true,
      .help = "Newest run that replaces this one, to be used instead; missing: none.",
      ROW_TEXT_OR_NULL(struct run_row, corrected_by) },
    { "cells_total", VALUE_INTEGER, .help = "Cells in the grid.",
      ROW_INTEGER(struct run_row, cells_total) },
    { "cells_done", VALUE_INTEGER, .help = "Cells that are no longer pending.",
      ROW_INTEGER(struct run_row, cells_done) },
    { "created_at", VALUE_TEXT, .optional = true, .help = "When it was requested or imported, UTC.",
      ROW_TIME(struct run_row, created_ms) },
    { "finished_at", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .optional = true,
      .help = "When it ended, UTC.", ROW_TIME(struct run_row, finished_ms) },
    { 0 },
};

json_t *run_answer_json(const struct run_row *run)
{
    return answer_row_take(
        run_answer_fields, run,
        json_pack("{s:b, s:I}", "imported", 0, "repetition", (json_int_t)run->repetition + 1));
}

void run_answer_describe_lineage(const struct run_row *run, struct text *out)
{
    if (run->corrects[0] != '\0')
        text_addf(out, "%s corrects %s.\n", run->id, run->corrects);
    if (run->corrected_by[0] != '\0')
        text_addf(out, "%s was corrected by %s: use that one.\n", run->id, run->corrected_by);
}
