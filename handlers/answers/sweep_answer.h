/* How sweeps, runs and cells are told. */
#pragma once

#include "analysis/report/report.h"
#include "handlers/answer.h"
#include "store/ledger/sweeps.h"

extern const struct field sweep_fields[], run_fields[], cell_fields[], finding_fields[];
/* Of the tools whose call is a task: in what the task ends with. */
#define FIELD_OUTCOME                                                                              \
    {                                                                                              \
        "outcome", VALUE_OBJECT,                                                                   \
            .optional = true,                                                                      \
            .help = "Once it is over: how it ended, and how many cells ended how."                 \
    }
json_t *sweep_json(const struct sweep_row *sweep); /* new reference, as are the next two */
json_t *run_json(const struct run_row *run);
json_t *cell_json(const struct cell_row *cell);
/* Their rows; deployment and repetition are left out where there is one. New reference. */
json_t *cells_json(const struct cell_row *cells, size_t count);

/* A line for each: what it corrects, and by what it was corrected. */
void run_describe_lineage(const struct run_row *run, struct text *out);
/* "Plan: concurrency=[1,4], window_s=5.": what of it is not as it is by default. */
void plan_describe(const json_t *plan, struct text *out);
bool sweep_is_active(const struct sweep_row *sweep);
const char *sweep_candidate(const struct sweep_row *sweep); /* its second deployment; NULL: none */
void sweep_describe(const struct sweep_row *sweep, struct text *out); /* a line or two */
/* A row per cell: load, state, latencies, throughput; ">=" before what is only known to be at least
 * so. */
void cells_table(const struct cell_row *cells, size_t count, struct text *out);
#define FINDINGS_HELP                                                                              \
    "Saturation point and largest load that meets the limits, as far as it is measured."
/* Saturation and limits, of the cells of one deployment: the member `findings`, and a line per
 * context. */
void findings_add(const struct report_input *input, struct answer *answer);
void sweep_rows_free(struct sweep_row *rows, size_t count);
