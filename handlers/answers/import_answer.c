/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/import_answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/report/import_report.h"
#include "base/core/memory.h"
#include "base/formats/table.h"
#include "base/json/json.h"

const struct field import_answer_source_fields[] = {
    { "format", VALUE_TEXT, .help = "Format of the file." },
    { "file", VALUE_TEXT, .foreign = true, .help = "The file's name." },
    { "digest", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .help = "SHA-256 of the file." },
    { "principal", VALUE_TEXT, .help = "Who imported it." },
    { "corrects", VALUE_TEXT, .optional = true,
      .help = "Earlier import of the same file; this import replaces the facts stated for it." },
    { 0 },
};

const struct field import_answer_fields[] = {
    { "facts", VALUE_OBJECT,
      .help =
          "What is known about the model, engine, hardware, price and limits: from the file, or as "
          "stated by the user who imported it. What is missing is not known." },
    { "input_unit", VALUE_TEXT, .help = "Unit of input lengths: tokens, words, or unknown." },
    { "remarks", VALUE_LIST, .sparse = true, .foreign = true,
      .help = "Remarks from the import, such as assumed units and skipped rows." },
    { "notes", VALUE_TEXT, .foreign = true, .optional = true,
      .help = "Notes by the user who imported it." },
    { "other_names", VALUE_LIST, .sparse = true, .foreign = true,
      .help = "Other names under which the same file was imported." },
    { "cells", VALUE_LIST, .sparse = true,
      .help = "Rows in the file's order, with the figures that the table in the text shows (with "
              "`detail`, all figures). Times are in milliseconds (_ms) or seconds (_s), "
              "throughputs per second. `row` is the line in the file, or the entry's number." },
    { 0 },
};

json_t *import_answer_run_json(const struct import_row *row)
{
    json_t *source = json_pack("{s:s, s:s, s:s, s:s, s:o}", "format", row->format, "file",
                               row->name, "digest", row->digest, "principal", row->principal,
                               "corrects", answer_json_text(row->corrects));

    return json_pack("{s:s, s:b, s:o, s:o, s:I, s:I, s:o}", "id", row->id, "imported", 1, "source",
                     source, "deployment", answer_json_text(row->deployment), "cells_total",
                     (json_int_t)row->cell_count, "cells_done", (json_int_t)row->cell_count,
                     "created_at", answer_json_time(row->created_ms));
}

static json_t *list_or_empty(const json_t *list)
{
    return list == NULL ? json_array() : json_incref(json_iterable(list));
}

json_t *import_answer_json(const struct evidence *evidence)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:[]}", "facts",
                     evidence_facts_json(&evidence->facts), "input_unit",
                     length_unit_name(evidence->input_unit), "remarks",
                     list_or_empty(evidence->remarks), "notes",
                     answer_json_text(evidence->notes == NULL ? "" : evidence->notes),
                     "other_names", list_or_empty(evidence->other_names), "cells");
}

/* ---- Text ---- */

static void add_state_counts(const struct evidence *evidence, struct text *out)
{
    size_t counts[EVIDENCE_STATES] = { 0 };

    for (size_t i = 0; i < evidence->cell_count; i++)
        counts[evidence->cells[i].state]++;
    for (enum evidence_state i = 0; i < EVIDENCE_STATES; i++)
        if (counts[i] > 0)
            text_addf(out, ", %zu %s", counts[i], evidence_state_name(i));
}

static void quote_remarks(const struct evidence *evidence, struct text *out)
{
    TEXT_AUTO lines = { 0 };
    const json_t *remark;
    size_t i;

    json_array_foreach(evidence->remarks, i, remark)
        text_addf(&lines, "%s\n", json_string_value(remark));
    if (lines.length > 0)
        answer_quote(out, "Remarks from the import", lines.data, lines.length, 6000);
}

void import_answer_describe(const struct evidence *evidence, struct text *out)
{
    json_auto_t *facts = evidence_facts_json(&evidence->facts);

    text_addf(out, "%s is an imported run, not measured by opsbrain: the %s file \"", evidence->id,
              evidence->format);
    text_add_printable(out, evidence->name, strlen(evidence->name), sizeof evidence->name);
    text_addf(out, "\", %zu cell%s", evidence->cell_count, evidence->cell_count == 1 ? "" : "s");
    add_state_counts(evidence, out);
    if (evidence->input_unit == LENGTH_UNKNOWN)
        text_add(out, ".\nThe file does not say whether input lengths are tokens or words.\n");
    else
        text_addf(out, ".\nInput lengths are counted in %s.\n",
                  length_unit_name(evidence->input_unit));
    text_add(out, "Known facts: ");
    answer_describe_members(facts, out);
    quote_remarks(evidence, out);
}

static void figure_cell(struct table *table, double value)
{
    if (isfinite(value))
        table_cell(table, "%.*f", value < 100 && value != floor(value) ? 2 : 0, value);
    else
        table_cell(table, "-");
}

static void table_row(struct table *table, const struct evidence_cell *cell)
{
    table_cell(table, "%" PRId64, cell->row);
    figure_cell(table, cell->concurrency);
    figure_cell(table, cell->input_length);
    figure_cell(table, cell->output_tokens_asked);
    figure_cell(table, cell->latency[METRIC_TTFT].p50_ms);
    figure_cell(table, cell->latency[METRIC_TTFT].p99_ms);
    figure_cell(table, cell->latency[METRIC_E2E].mean_ms);
    figure_cell(table, cell->output_throughput);
    figure_cell(table, cell->request_throughput);
    figure_cell(table, cell->success_rate);
    table_cell(table, "%s", evidence_state_name(cell->state));
}

static void add_cells_table(const struct evidence *evidence, size_t first, size_t count,
                            struct text *out)
{
    static const char *const headings[] = { "Row",         "Users",  "In",          "Out",
                                            "TTFT p50 ms", "p99",    "E2E mean ms", "Out tokens/s",
                                            "Req/s",       "Success" };
    struct table *table = table_create();

    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        table_column(table, headings[i], true);
    table_column(table, "State", false);
    for (size_t i = first; i < first + count; i++)
        table_row(table, &evidence->cells[i]);
    table_render(table, out);
    table_destroy(table);
}

/* ---- Tools ---- */

static CHECKED bool find(const struct call *call, struct import_row *row, struct evidence *evidence,
                         struct error *error)
{
    const char *id = call_text(call, "run");

    evidence_init(evidence);
    return import_find(call->services->store, id, row, error)
           && evidence_find(call->services->store, id, evidence, error);
}

static void keep_members(json_t *object, const char *const *names, size_t count)
{
    json_t *kept = json_object();

    for (size_t i = 0; i < count; i++)
        if (json_object_get(object, names[i]) != NULL)
            json_object_set(kept, names[i], json_object_get(object, names[i]));
    json_object_clear(object);
    json_object_update(object, kept);
    json_decref(kept);
}

/* Returns the members of a cell that have a column in the table or, if the call requests details,
 * all members except `original`. That member is the entry as it is in the file, and only the answer
 * about a single cell contains it. */
static json_t *row_json(const struct call *call, const struct evidence_cell *cell)
{
    static const char *const figures[] = {
        "row",  "state", "concurrency",       "input_length",       "output_tokens_asked",
        "ttft", "e2e",   "output_throughput", "request_throughput", "success_rate",
    };
    static const char *const percentiles[] = { "p50_ms", "p99_ms" }, *const mean[] = { "mean_ms" };
    json_t *json = evidence_cell_json(cell);

    json_object_del(json, "original");
    if (call_boolean(call, "detail", false))
        return json;
    keep_members(json, figures, sizeof figures / sizeof *figures);
    keep_members(json_object_get(json, "ttft"), percentiles, 2);
    keep_members(json_object_get(json, "e2e"), mean, 1);
    return json;
}

static CHECKED bool add_detail(const struct call *call, const struct evidence *evidence,
                               struct answer *answer, struct error *error)
{
    int64_t position = call_integer(call, "cell", -1);
    json_auto_t *detail = NULL;
    FREE_AUTO char *written = NULL;

    if (position < 0)
        return true;
    if (position >= (int64_t)evidence->cell_count)
        return error_set(error, ERROR_NOT_FOUND,
                         "the run has no cell at position %" PRId64 ": its positions are 0 to %zu",
                         position, evidence->cell_count - 1);
    detail = evidence_cell_json(&evidence->cells[position]);
    written = json_dumps(detail, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    answer_quote(&answer->text, "\nThis row as it was read, and as it is in the file", written,
                 strlen(written), 12000);
    json_object_set_new(
        answer->structured, "detail",
        json_pack("{s:I, s:O}", "position", (json_int_t)position, "measurement", detail));
    return true;
}

static CHECKED bool write_show(const struct call *call, const struct import_row *row,
                               const struct evidence *evidence, int64_t cursor,
                               struct answer *answer, struct error *error)
{
    size_t limit = (size_t)call_integer(call, "limit", 30), all = evidence->cell_count;
    size_t first = (size_t)cursor < all ? (size_t)cursor : all;
    size_t count = all - first < limit ? all - first : limit;
    json_t *import = import_answer_json(evidence);
    json_t *cells = json_object_get(import, "cells");

    for (size_t i = first; i < first + count; i++)
        json_array_append_new(cells, row_json(call, &evidence->cells[i]));
    answer->structured = json_pack("{s:o, s:{}, s:{s:s}, s:[], s:o}", "run",
                                   import_answer_run_json(row), "fingerprint", "provenance",
                                   "principal", row->principal, "cells", "import", import);
    import_answer_describe(evidence, &answer->text);
    text_add_char(&answer->text, '\n');
    add_cells_table(evidence, first, count, &answer->text);
    answer_page_end_at(answer, first + count < all, (int64_t)(first + count));
    answer_shows(answer, "/runs/%s", row->id);
    return add_detail(call, evidence, answer, error);
}

bool import_answer_show(struct call *call, struct answer *answer, struct error *error)
{
    struct import_row row = { 0 };
    EVIDENCE_AUTO evidence;
    int64_t cursor;
    bool done = find(call, &row, &evidence, error) && answer_page_cursor(call, &cursor, error)
                && write_show(call, &row, &evidence, cursor, answer, error);

    import_row_finish(&row);
    return done;
}

bool import_answer_report(struct call *call, struct answer *answer, struct error *error)
{
    struct import_row row = { 0 };
    EVIDENCE_AUTO evidence;
    bool done = find(call, &row, &evidence, error);

    if (done) {
        answer->structured = json_pack("{s:[o], s:o}", "runs", import_answer_run_json(&row),
                                       "report", import_answer_json(&evidence));
        import_report_write(&evidence, &answer->text);
        answer_shows(answer, "/runs/%s", row.id);
    }
    import_row_finish(&row);
    return done;
}
