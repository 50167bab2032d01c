/* SPDX-License-Identifier: Apache-2.0 */
/* run_show: shows one run: what was measured, by whom, and, for a requested cell, every figure. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answers/cell_answer.h"
#include "handlers/answers/import_answer.h"
#include "handlers/answers/run_answer.h"
#include "handlers/answers/sweep_answer.h"
#include "store/ledger/attempt_series.h"

static const struct param params[] = {
    { "run", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id: run_... or imp_..." },
    { "cell", VALUE_INTEGER, .low = 0, .high = 1e9,
      .help = "Position of a cell, to show everything measured there.",
      .more = "All percentiles, failures by class, the server's own metrics." },
    { "scrapes", VALUE_INTEGER, .low = 0, .high = 2048, .initial = "0",
      .help = "With `cell`: number of scrapes to show.",
      .more =
          "Evenly spread over the time from before the cell's first request to after its last." },
    { "limit", VALUE_INTEGER, .low = 1, .high = 200, .initial = "30", .help = "Cells per page." },
    PARAM_CURSOR,
    PARAM_DETAIL,
    { 0 },
};

static const struct field detail_fields[] = {
    { "position", VALUE_INTEGER, .help = "Position of the cell." },
    { "state", VALUE_TEXT, .optional = true, .help = "pending, measured, failed, ..." },
    { "measurement", VALUE_OBJECT, .optional = true,
      .help = "Groups: window, requests, failures, load, tokens, rates, client, latency; the names "
              "of figures give the units; missing: not measured." },
    { "witness", VALUE_OBJECT, .optional = true,
      .help =
          "What the server's own metrics showed: state full, partial or absent, and why; counts "
          "compared with what was sent; means, gauges and rates in the window; missing: not "
          "measured." },
    { "series", VALUE_OBJECT, .optional = true,
      .help = "The scrapes as columns: at_ms (UTC), and one list per figure; null where a "
              "scrape lacks the figure. Only with `scrapes`." },
    { "workload_digest", VALUE_TEXT, .optional = true, .help = "Digest of the prompts." },
    { 0 },
};

static const struct field fields[] = {
    { "run", VALUE_OBJECT, .help = "The run.", .fields = run_answer_fields },
    { "fingerprint", VALUE_OBJECT, .sparse = true,
      .help =
          "What was measured: model, engine, hardware, limits, workload; empty before the first "
          "cell." },
    { "provenance", VALUE_OBJECT, .help = "Who measured it, with what, from where." },
    { "cells", VALUE_LIST, .sparse = true, .help = "Cells in order of measurement.",
      .fields = cell_answer_fields, .described_in = "sweep_show" },
    { "findings", VALUE_LIST, .optional = true, .help = FINDINGS_HELP,
      .fields = sweep_answer_finding_fields, .described_in = "sweep_show" },
    { "detail", VALUE_OBJECT, .foreign = true, .optional = true, .help = "The requested cell.",
      .fields = detail_fields },
    { "import", VALUE_OBJECT, .optional = true,
      .help = "For an imported run, instead of cells: what its file contains.",
      .fields = import_answer_fields },
    FIELD_NEXT_CURSOR,
    { 0 },
};

struct view {
    struct sweep_row sweep;
    struct run_row run;
    struct cell_row *cells;
    size_t cell_count;
};

static void view_finish(struct view *view)
{
    run_row_finish(&view->run);
    cell_rows_free(view->cells, view->cell_count);
    sweep_row_finish(&view->sweep);
}

/* Returns what the fingerprint was computed from. Unless the call requests all details, this omits
 * the engine's details, the form of the requests, and workload settings that have their default
 * values. */
static json_t *measured_json(const struct call *call, const struct run_row *run)
{
    json_t *fingerprint = answer_json_stored(run->fingerprint_document);

    if (call_boolean(call, "detail", false))
        return fingerprint;
    json_object_del(fingerprint, "engine_details");
    json_object_del(fingerprint, "request_form");
    json_object_set_new(
        fingerprint, "workload",
        tool_omit_defaults(tool_find("sweep_plan"), json_object_get(fingerprint, "workload")));
    json_drop_blank(fingerprint);
    return fingerprint;
}

static json_t *detail_json(const struct cell_row *cell)
{
    bool has_figures = cell->state == CELL_MEASURED || cell->state == CELL_FAILED
                       || cell->state == CELL_INFEASIBLE;

    return json_pack("{s:I, s:s, s:o, s:o, s:o}", "position", (json_int_t)cell->position, "state",
                     cell_state_name(cell->state), "measurement",
                     has_figures ? measurement_to_json(&cell->measurement) : json_null(), "witness",
                     cell->witness == NULL ? json_null() : answer_json_stored(cell->witness),
                     "workload_digest", answer_json_text(cell->workload_digest));
}

/* Chooses at most `limit` entries of a column, evenly spread; the last one is always included. */
static json_t *thin_column(const json_t *column, size_t limit)
{
    size_t count = json_array_size(column), chosen = count < limit ? count : limit;
    json_t *out = json_array();

    for (size_t i = 1; i <= chosen; i++)
        json_array_append(out, json_array_get(column, i * count / chosen - 1));
    return out;
}

/* Adds the scrapes, which are only stored if the server provided metrics. */
static CHECKED bool add_series(const struct call *call, int64_t attempt_id, json_t *detail,
                               struct answer *answer, struct error *error)
{
    size_t limit = (size_t)call_integer(call, "scrapes", 0);
    json_auto_t *stored = NULL, *series = json_object();
    FREE_AUTO char *written = NULL;
    const char *name;
    json_t *column;

    if (limit == 0)
        return true;
    if (!attempt_series_find(call->services->store, attempt_id, &stored, error))
        return error->kind == ERROR_NOT_FOUND;
    json_object_foreach(stored, name, column)
        json_object_set_new(series, name, thin_column(column, limit));
    json_object_set(detail, "series", series);
    written = json_write(series);
    answer_quote(&answer->text, "\nThe server's metrics during this cell, as columns", written,
                 strlen(written), 12000);
    return true;
}

static CHECKED bool add_detail(const struct call *call, const struct view *view,
                               struct answer *answer, struct error *error)
{
    int64_t position = call_integer(call, "cell", -1);
    json_t *detail;
    FREE_AUTO char *written = NULL;

    if (position < 0)
        return true;
    for (size_t i = 0; i < view->cell_count; i++) {
        if (view->cells[i].position != position)
            continue;
        detail = detail_json(&view->cells[i]);
        json_object_set_new(answer->structured, "detail", detail);
        written = json_dumps(detail, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        answer_quote(&answer->text, "\nEverything that was measured in this cell", written,
                     strlen(written), 12000);
        return add_series(call, view->cells[i].attempt_id, detail, answer, error);
    }
    return error_set(error, ERROR_NOT_FOUND,
                     "the run has no cell at position %" PRId64 ": its first cell is at %" PRId64
                     ", its last at %" PRId64,
                     position, view->cell_count == 0 ? 0 : view->cells[0].position,
                     view->cell_count == 0 ? 0 : view->cells[view->cell_count - 1].position);
}

static void write_head(const struct run_row *run, const json_t *measured, struct text *out)
{
    json_auto_t *provenance = answer_json_stored(run->provenance);

    text_addf(out,
              "%s: repetition %" PRId64 " of %s on %s (sweep %s); %" PRId64 " of %" PRId64
              " cells done.\nFingerprint: %s\n",
              run->id, run->repetition + 1, run->sweep_id, run->deployment, run->sweep_state,
              run->cells_done, run->cells_total,
              run->fingerprint[0] != '\0' ? run->fingerprint : "none before the first cell");
    text_add(out, "Measured: ");
    answer_describe_members(measured, out);
    text_add(out, "Provenance: ");
    answer_describe_members(provenance, out);
    run_answer_describe_lineage(run, out);
    text_add_char(out, '\n');
}

static CHECKED bool write_answer(const struct call *call, const struct view *view, int64_t cursor,
                                 struct answer *answer, struct error *error)
{
    size_t limit = (size_t)call_integer(call, "limit", 30);
    size_t first = (size_t)cursor < view->cell_count ? (size_t)cursor : view->cell_count;
    size_t count = view->cell_count - first < limit ? view->cell_count - first : limit;
    const struct report_input input = { .sweep = &view->sweep,
                                        .cells = view->cells,
                                        .cell_count = view->cell_count };
    const struct cell_page page = { view->cells, view->cell_count, first, count };

    json_t *measured = measured_json(call, &view->run);

    answer->structured = json_pack(
        "{s:o, s:o, s:o, s:o}", "run", run_answer_json(&view->run), "fingerprint", measured,
        "provenance", answer_json_stored(view->run.provenance), "cells", cell_answer_list(&page));
    write_head(&view->run, measured, &answer->text);
    sweep_answer_add_findings(&input, answer);
    text_add_char(&answer->text, '\n');
    if (count > 0)
        cell_answer_table(&page, &answer->text);
    answer_page_end_at(answer, first + count < view->cell_count, (int64_t)(first + count));
    answer_shows(answer, "/runs/%s", view->run.id);
    return add_detail(call, view, answer, error);
}

static CHECKED bool show_own(struct call *call, struct answer *answer, struct error *error)
{
    struct store *store = call->services->store;
    struct view view = { 0 };
    int64_t cursor;
    bool done =
        answer_page_cursor(call, &cursor, error)
        && run_find(store, call_text(call, "run"), &view.run, error)
        && sweep_find(store, view.run.sweep_id, &view.sweep, error)
        && cell_list(store, view.run.sweep_id, view.run.id, &view.cells, &view.cell_count, error)
        && write_answer(call, &view, cursor, answer, error);

    view_finish(&view);
    return done;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    return evidence_is_import(call_text(call, "run")) ? import_answer_show(call, answer, error)
                                                      : show_own(call, answer, error);
}

const struct tool tool_run_show = {
    .name = "run_show",
    .title = "Show one run",
    .help = "One run: what was measured, by whom, saturation points and cells; with `cell` "
            "every figure of one cell.",
    .more = "Its fingerprint says what was measured, its provenance who, why and from where. "
            "run_report has a readable summary of a whole sweep.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
