/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_list: lists the benchmarks, newest first. */

#include <inttypes.h>

#include "base/formats/table.h"
#include "handlers/answer.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/period.h"

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .low = 1, .high = 63,
      .help = "Only sweeps of this deployment (even if removed)." },
    PARAMS_PERIOD,
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "sweeps", VALUE_LIST, .help = "Newest first.", .fields = sweep_answer_fields,
      .described_in = "sweep_show" },
    FIELD_NEXT_CURSOR,
    FIELD_NEXT_STEP,
    { 0 },
};

static void write_table(const struct sweep_row *sweeps, size_t count, struct text *out)
{
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "Sweep", false);
    table_column(table, "Deployment", false);
    table_column(table, "State", false);
    table_column(table, "Cells", true);
    table_column(table, "By", false);
    table_column(table, "Created (UTC)", false);
    for (size_t i = 0; i < count; i++) {
        table_cell(table, "%s", sweeps[i].id);
        table_cell(table, "%s%s%s", sweeps[i].deployment, sweeps[i].subject_count > 1 ? ", " : "",
                   sweeps[i].subject_count > 1 ? sweep_answer_candidate(&sweeps[i]) : "");
        table_cell(table, "%s", sweeps[i].state);
        table_cell(table, "%" PRId64 "/%" PRId64, sweeps[i].cells_done, sweeps[i].cells_total);
        table_cell(table, "%s", sweeps[i].principal);
        table_cell(table, "%s", answer_time(sweeps[i].created_ms, time));
    }
    table_render(table, out);
    table_destroy(table);
}

static int64_t created_ms(const void *rows, size_t index)
{
    return ((const struct sweep_row *)rows)[index].created_ms;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct sweep_row *sweeps = NULL;
    size_t limit = answer_page_limit(call), found, in_period, shown;
    struct period period;
    json_t *list;

    if (!period_page(call, &period, error)
        || !sweep_list(call->services->store, call_text(call, "deployment"), period.until_ms,
                       limit + 1, &sweeps, &found, error))
        return false;
    in_period = period_count(&period, found, created_ms, sweeps);
    shown = answer_page_length(in_period, limit, created_ms, sweeps);
    list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, sweep_answer_json(&sweeps[i]));
    answer->structured = json_pack("{s:o}", "sweeps", list);
    if (shown == 0) {
        text_add(&answer->text, "No sweeps were found.\n");
        answer_next(answer, "sweep_plan, then sweep_start");
    } else
        write_table(sweeps, shown, &answer->text);
    answer_page_end_at(answer, in_period > shown, shown == 0 ? 0 : sweeps[shown - 1].created_ms);
    sweep_answer_rows_free(sweeps, found);
    return true;
}

const struct tool tool_sweep_list = {
    .name = "sweep_list",
    .title = "List the benchmarks",
    .help =
        "Lists sweeps (benchmarks), newest first, with state and progress. Results: run_report.",
    .more = "sweep_show shows one in full.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
