/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/run_answer.h"

#include "handlers/answers/import_answer.h"

const struct field run_answer_fields[] = {
    { "id", VALUE_TEXT, .help = "Id of the run." },
    { "imported", VALUE_BOOLEAN, .sparse = true,
      .help = "True: another tool measured it, and only what its file tells is known." },
    { "source", VALUE_OBJECT, .optional = true, .help = "Of an imported run: its file.",
      .fields = import_answer_source_fields },
    { "sweep", VALUE_TEXT, .optional = true, .help = "Sweep it belongs to; missing: imported." },
    { "repetition", VALUE_INTEGER, .optional = true,
      .help = "Which repetition of the sweep's grid, from 1." },
    { "deployment", VALUE_TEXT, .optional = true, .help = "Deployment that was measured." },
    { "sweep_state", VALUE_TEXT, .told = TOLD_ALONE, .optional = true,
      .help = "State of the sweep." },
    { "fingerprint", VALUE_TEXT, .optional = true,
      .help =
          "Digest of what was measured; missing before the first cell. Runs compare where it is "
          "the same." },
    { "corrects", VALUE_TEXT, .optional = true,
      .help =
          "Earlier run that this one stands in for (sweep_start with `corrects`); missing: none." },
    { "corrected_by", VALUE_TEXT, .optional = true,
      .help = "Newest run that stands in for this one: use that one; missing: none." },
    { "cells_total", VALUE_INTEGER, .help = "Cells of the grid." },
    { "cells_done", VALUE_INTEGER, .help = "Cells that are no longer pending." },
    { "created_at", VALUE_TEXT, .optional = true, .help = "When it was asked for, UTC." },
    { "finished_at", VALUE_TEXT, .told = TOLD_IN_DETAIL, .optional = true,
      .help = "When it ended, UTC; missing: not yet." },
    { 0 },
};

json_t *run_answer_json(const struct run_row *run)
{
    return json_pack(
        "{s:s, s:b, s:s, s:I, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "id", run->id,
        "imported", 0, "sweep", run->sweep_id, "repetition", (json_int_t)run->repetition + 1,
        "deployment", run->deployment, "sweep_state", run->sweep_state, "fingerprint",
        answer_json_text(run->fingerprint), "corrects", answer_json_text(run->corrects),
        "corrected_by", answer_json_text(run->corrected_by), "cells_total",
        (json_int_t)run->cells_total, "cells_done", (json_int_t)run->cells_done, "created_at",
        answer_json_time(run->created_ms), "finished_at", answer_json_time(run->finished_ms));
}

void run_answer_describe_lineage(const struct run_row *run, struct text *out)
{
    if (run->corrects[0] != '\0')
        text_addf(out, "%s corrects %s.\n", run->id, run->corrects);
    if (run->corrected_by[0] != '\0')
        text_addf(out, "%s was corrected by %s: use that one.\n", run->id, run->corrected_by);
}
