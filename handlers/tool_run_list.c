/* run_list: what was measured, newest first. */

#include <inttypes.h>

#include "base/table.h"
#include "handlers/deployment_of.h"
#include "handlers/sweep_answer.h"

#define REPETITIONS_MAX 20 /* of a sweep, as sweep_plan allows */

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .low = 1, .high = 63,
      .help = "Only runs on this deployment; left out: on all, removed ones included." },
    { "sweep", VALUE_TEXT, .low = 1, .high = 39, .help = "Only runs of this sweep (swp_...)." },
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "runs", VALUE_LIST, .help = "Newest first.", .fields = run_fields },
    FIELD_NEXT_CURSOR,
    { 0 },
};

static void write_table(const struct run_row *runs, size_t count, struct text *out)
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
        table_cell(table, "%s", runs[i].id);
        table_cell(table, "%s", runs[i].sweep_id);
        table_cell(table, "%" PRId64, runs[i].repetition + 1);
        table_cell(table, "%s", runs[i].deployment);
        table_cell(table, "%" PRId64 "/%" PRId64, runs[i].cells_done, runs[i].cells_total);
        table_cell(table, "%.12s", runs[i].fingerprint[0] != '\0' ? runs[i].fingerprint : "-");
        table_cell(table, "%s", time_show(runs[i].created_ms, time));
    }
    table_render(table, out);
    table_destroy(table);
}

static int64_t created_ms(const void *rows, size_t index)
{
    return ((const struct run_row *)rows)[index].created_ms;
}

/* The repetitions of a sweep have one time: a page that is all of them ends with the last, be it
 * over the limit, since the next page begins behind that time. */
static size_t end_page(const struct run_row *runs, size_t count, size_t limit)
{
    size_t shown = page_length(count, limit, created_ms, runs);

    while (shown > 0 && shown < count && runs[shown].created_ms == runs[shown - 1].created_ms)
        shown++;
    return shown;
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct run_row *runs = NULL;
    size_t limit = page_limit(call), count, shown;
    int64_t before_ms;
    json_t *list;

    if (!page_cursor(call, &before_ms, error)
        || !run_list(call->services->store, call_text(call, "deployment"), call_text(call, "sweep"),
                     before_ms, limit + REPETITIONS_MAX, &runs, &count, error))
        return false;
    shown = end_page(runs, count, limit);
    list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, run_json(&runs[i]));
    answer->structured = json_pack("{s:o}", "runs", list);
    if (shown == 0)
        text_add(&answer->text, "No such run. Next: sweep_plan, then sweep_start.\n");
    else
        write_table(runs, shown, &answer->text);
    page_end_at(answer, count > shown, shown == 0 ? 0 : runs[shown - 1].created_ms);
    run_rows_free(runs, count);
    return true;
}

const struct tool tool_run_list = {
    .name = "run_list",
    .title = "List what was measured",
    .help =
        "Lists runs newest first. A run is one repetition of a sweep's grid; runs with the same "
        "fingerprint measured the same thing in the same way. One in full: run_show; the "
        "results of a whole sweep: run_report.",
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
