/* SPDX-License-Identifier: Apache-2.0 */
/* run_list: lists what was measured, the newest first. */

#include <inttypes.h>
#include <string.h>

#include "base/formats/table.h"
#include "handlers/answer.h"
#include "handlers/answers/import_answer.h"
#include "handlers/answers/run_answer.h"
#include "handlers/answers/run_index.h"
#include "handlers/period.h"

#define SWEEP_RUNS_MAX 40 /* sweep_plan allows 20 repetitions on each of two deployments */

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .low = 1, .high = 63,
      .help = "Only runs on this deployment (even if removed)." },
    { "sweep", VALUE_TEXT, .low = 1, .high = 39, .help = "Only runs of this sweep." },
    PARAMS_PERIOD,
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "runs", VALUE_LIST, .help = "Newest first.", .fields = run_answer_fields,
      .described_in = "run_show" },
    FIELD_NEXT_CURSOR,
    FIELD_NEXT_STEP,
    { 0 },
};

static void write_own(const struct run_row *run, struct table *table)
{
    table_cell(table, "%s", run->id);
    table_cell(table, "%s", run->sweep_id);
    table_cell(table, "%" PRId64, run->repetition + 1);
    table_cell(table, "%s", run->deployment);
    table_cell(table, "%" PRId64 "/%" PRId64, run->cells_done, run->cells_total);
    table_cell(table, "%.12s", run->fingerprint[0] != '\0' ? run->fingerprint : "-");
}

static void write_imported(const struct import_row *import, struct table *table)
{
    TEXT_AUTO name = { 0 };

    text_add_printable(&name, import->name, strlen(import->name), 60);
    table_cell(table, "%s", import->id);
    table_cell(table, "imported: %s", text_string(&name));
    table_cell(table, "-");
    table_cell(table, "%s", import->deployment[0] != '\0' ? import->deployment : "-");
    table_cell(table, "%" PRId64, import->cell_count);
    table_cell(table, "-");
}

static void write_table(const struct any_run *runs, size_t count, struct text *out)
{
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "Run", false);
    table_column(table, "Sweep", false);
    table_column(table, "Rep", true);
    table_column(table, "Deployment", false);
    table_column(table, "Cells", true);
    table_column(table, "Fingerprint", false);
    table_column(table, "Created (UTC)", false);
    for (size_t i = 0; i < count; i++) {
        if (runs[i].run != NULL)
            write_own(runs[i].run, table);
        else
            write_imported(runs[i].import, table);
        table_cell(table, "%s", answer_time(runs[i].created_ms, time));
    }
    table_render(table, out);
    table_destroy(table);
    for (size_t i = 0; i < count; i++)
        if (runs[i].run != NULL)
            run_answer_describe_lineage(runs[i].run, out);
}

static int64_t created_ms(const void *rows, size_t index)
{
    return ((const struct any_run *)rows)[index].created_ms;
}

/* Returns how many runs belong on this page. All runs of a sweep have the same creation time, and
 * the next page begins with runs that were created earlier. A page that contains only runs of one
 * sweep therefore contains all of them, even beyond the limit. */
static size_t end_page(const struct any_run *runs, size_t count, size_t limit)
{
    size_t shown = answer_page_length(count, limit, created_ms, runs);

    while (shown > 0 && shown < count && runs[shown].created_ms == runs[shown - 1].created_ms)
        shown++;
    return shown;
}

static void write_answer(const struct run_index *all, size_t limit, struct answer *answer)
{
    size_t shown = end_page(all->rows, all->count, limit);
    json_t *list = json_array();

    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, all->rows[i].run != NULL
                                        ? run_answer_json(all->rows[i].run)
                                        : import_answer_run_json(all->rows[i].import));
    answer->structured = json_pack("{s:o}", "runs", list);
    if (shown == 0) {
        text_add(&answer->text, "There are no runs.\n");
        answer_next(answer, "sweep_plan, then sweep_start");
    } else
        write_table(all->rows, shown, &answer->text);
    answer_page_end_at(answer, all->count > shown,
                       shown == 0 ? 0 : all->rows[shown - 1].created_ms);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    size_t limit = answer_page_limit(call);
    struct run_index all;
    struct period period;

    if (!period_page(call, &period, error)
        || !run_index_list(call->services->store, call_text(call, "deployment"),
                           call_text(call, "sweep"), period.until_ms, limit + SWEEP_RUNS_MAX, &all,
                           error))
        return false;
    all.count = period_count(&period, all.count, created_ms, all.rows);
    write_answer(&all, limit, answer);
    run_index_finish(&all);
    return true;
}

const struct tool tool_run_list = {
    .name = "run_list",
    .title = "List what was measured",
    .help = "Lists measured and imported runs, newest first; the same fingerprint means the same "
            "conditions.",
    .more = "A run is one repetition of a sweep's grid. run_show shows one in full, run_report "
            "the results of a whole sweep.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
