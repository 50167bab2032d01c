/* SPDX-License-Identifier: Apache-2.0 */
/* Writes peak, saturation, and the loads at which failures begin. */
#include <math.h>
#include <string.h>

#include "analysis/report/failure_onset.h"
#include "analysis/report/point_warnings.h"
#include "analysis/report/report_sections.h"
#include "analysis/report/saturation.h"
#include "base/formats/table.h"
#include "base/json/json.h"

#define MESSAGE_BYTES 200

/* ---- Peak ---- */

void report_peak_write(const struct cell_grid *grid, size_t output, struct text *out)
{
    const struct peak peak = peak_find(grid, output);
    char tokens[NUMBER_SIZE], requests[NUMBER_SIZE], load[LOAD_SIZE];

    text_add(out, "### Peak\n\n");
    if (!peak.found) {
        text_add(out, "No point was measured with at least 99 % of its requests successful and "
                      "without traffic from other clients.\n\n");
        return;
    }
    text_addf(
        out, "%s output tokens/s (%s requests/s) %s %s at context %lld.%s\n\n",
        repetition_stats_number(peak.output_tokens_per_s, tokens),
        repetition_stats_number(repetition_stats_mean(&peak.point, QUANTITY_REQUESTS), requests),
        peak.point.is_rate ? "at" : "with",
        cell_grid_load_name(peak.point.load, peak.point.is_rate, load),
        (long long)peak.point.context_tokens,
        point_warning_is_marked(&peak.point) ? " It has a \"!\": see the warnings." : "");
}

json_t *report_peak_to_json(const struct cell_grid *grid, size_t output)
{
    const struct peak peak = peak_find(grid, output);
    json_t *json;

    if (!peak.found)
        return json_null();
    json =
        json_pack("{s:I, s:f, s:b, s:o}", "context_tokens", (json_int_t)peak.point.context_tokens,
                  "output_tokens_per_s", peak.output_tokens_per_s, "marked",
                  point_warning_is_marked(&peak.point), "requests_per_s",
                  json_number_or_null(repetition_stats_mean(&peak.point, QUANTITY_REQUESTS)));
    cell_grid_load_set(json, "", peak.point.load, peak.point.is_rate);
    return json;
}

/* ---- Saturation ---- */

/* Writes "4", "4 to 16" or ">=17". */
static void interval_cell(struct table *table, const struct load_verdict *verdict)
{
    if (!verdict->reached)
        table_cell(table, ">=%.4g", verdict->low);
    else if (verdict->low < verdict->high)
        table_cell(table, "%.4g to %.6g", verdict->low, verdict->high);
    else
        table_cell(table, "%.6g", verdict->high);
}

static void saturation_row(struct table *table, int64_t context, const struct saturation *s)
{
    char number[NUMBER_SIZE];

    table_cell(table, "%lld", (long long)context);
    if (!s->found) {
        for (int i = 0; i < 5; i++)
            table_cell(table, "-");
        return;
    }
    interval_cell(table, &s->verdict);
    table_cell(table, "%s", repetition_stats_number(s->output_tokens_per_s, number));
    table_cell(table, "%s", repetition_stats_number(s->peak_tokens_per_s, number));
    table_cell(table, "%.6g", s->peak.load);
    if (s->doubled_load > 0)
        table_cell(table, "%s%.6g", s->doubled_at_most ? "<=" : "", s->doubled_load);
    else
        table_cell(table, "-");
}

void report_saturation_write(const struct cell_grid *grid, size_t output, struct text *out)
{
    static const char *const headings[] = { "context",       "saturated at", "tokens/s there",
                                            "peak tokens/s", "peak at",      "doubled at" };
    struct table *table = table_create();

    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_column(table, headings[i], true);
    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct saturation s = saturation_find(grid, output, context);

        saturation_row(table, (int64_t)grid->contexts.values[context], &s);
    }
    text_add(
        out,
        "### Saturation\n\n"
        "Saturated at: the smallest load that gives 95 % of the most output tokens/s that "
        "the server\ncan give at any load; \"to\": it lies between these two; \">=\": the "
        "measured loads may not reach it.\nDoubled at: the smallest load whose E2E median is at "
        "least twice that of the smallest load.\n\"<=\": it may be smaller, since the next "
        "smaller load was not measured.\n\n");
    table_render(table, out);
    text_add_char(out, '\n');
    table_destroy(table);
}

static json_t *loads_json(const struct saturation *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->next_count; i++)
        json_array_append_new(list, cell_grid_load_json(s->next[i], s->at.is_rate));
    return list;
}

json_t *report_saturation_to_json(const struct cell_grid *grid, size_t output)
{
    json_t *rows = json_array();

    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct saturation s = saturation_find(grid, output, context);
        json_t *row = json_pack("{s:I, s:b}", "context_tokens",
                                (json_int_t)grid->contexts.values[context], "found", s.found);

        json_array_append_new(rows, row);
        if (!s.found)
            continue;
        json_object_set_new(row, "reached", json_boolean(s.verdict.reached));
        cell_grid_load_set(row, "", s.at.load, s.at.is_rate);
        cell_grid_load_set(row, "low_", s.verdict.low, s.at.is_rate);
        if (s.verdict.reached)
            cell_grid_load_set(row, "high_", s.verdict.high, s.at.is_rate);
        json_object_set_new(row, "measure_next", loads_json(&s));
        if (isfinite(s.verdict.at_once))
            json_object_set_new(row, "requests_at_once", json_real(s.verdict.at_once));
        json_object_set_new(row, "output_tokens_per_s", json_real(s.output_tokens_per_s));
        cell_grid_load_set(row, "peak_", s.peak.load, s.peak.is_rate);
        json_object_set_new(row, "peak_output_tokens_per_s", json_real(s.peak_tokens_per_s));
        if (s.doubled_load > 0)
            cell_grid_load_set(row, "latency_doubled_", s.doubled_load, s.at.is_rate);
        if (s.doubled_at_most)
            json_object_set_new(row, "latency_doubled_at_most", json_true());
    }
    return rows;
}

/* ---- Failures ---- */

static const char *describe_state(const struct failure_onset *f)
{
    switch (f->cell->state) {
    case CELL_INFEASIBLE:
        return "too long for the model";
    case CELL_MEASURED:
        return "measured, with losses";
    case CELL_FAILED:
    case CELL_PENDING:
    case CELL_SKIPPED:
    case CELL_INFERRED:
    case CELL_STATES:
        break;
    }
    return "failed";
}

void report_failure_sentence(const struct cell_grid *grid, const struct failure_onset *f,
                             struct text *out)
{
    char load[LOAD_SIZE];

    text_addf(out, "context %lld", (long long)f->point.context_tokens);
    if (grid->outputs.count > 1)
        text_addf(out, ", %lld output tokens", (long long)f->point.output_tokens);
    text_addf(out, ", at %s: %s", cell_grid_load_name(f->point.load, f->point.is_rate, load),
              describe_state(f));
    if (f->failure != FAILURE_NONE)
        text_addf(out, ", %s", failure_name(f->failure));
    if (f->attempted > 0)
        text_addf(out, ", %lld of %lld requests failed", (long long)f->failed,
                  (long long)f->attempted);
    if (f->further > 0)
        text_addf(out, "; %zu larger load%s not measured", f->further, f->further == 1 ? "" : "s");
}

static void failure_write(const struct cell_grid *grid, const struct failure_onset *f,
                          struct text *out)
{
    text_add(out, "- ");
    report_failure_sentence(grid, f, out);
    if (f->message[0] != '\0') {
        text_add(out, ": ");
        for (const char *line = f->message; *line != '\0';) {
            size_t length = strcspn(line, "\r\n\t");

            text_add_printable(out, line, length, MESSAGE_BYTES);
            line += length + strspn(line + length, "\r\n\t");
            text_add(out, *line != '\0' ? " " : "");
        }
    }
    text_add_char(out, '\n');
}

void report_failures_write(const struct cell_grid *grid, struct text *out)
{
    size_t found = 0;

    text_add(out, "## Where failures begin\n\n");
    for (size_t output = 0; output < grid->outputs.count; output++)
        for (size_t context = 0; context < grid->contexts.count; context++) {
            const struct failure_onset f = failure_onset_find(grid, output, context);

            if (f.found)
                failure_write(grid, &f, out);
            found += f.found;
        }
    text_add(out, found > 0 ? "\n" : "Nothing failed in what was measured.\n\n");
}

static json_t *failure_to_json(const struct failure_onset *f)
{
    json_t *json;
    TEXT_AUTO message = { 0 };

    text_add_printable(&message, f->message, strlen(f->message), MESSAGE_BYTES);
    json = json_pack("{s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:s}", "output_tokens",
                     (json_int_t)f->point.output_tokens, "context_tokens",
                     (json_int_t)f->point.context_tokens, "state", cell_state_name(f->cell->state),
                     "failure", failure_name(f->failure), "failed_requests", (json_int_t)f->failed,
                     "attempted_requests", (json_int_t)f->attempted, "further_loads_not_measured",
                     (json_int_t)f->further, "message", text_string(&message));
    cell_grid_load_set(json, "", f->point.load, f->point.is_rate);
    return json;
}

json_t *report_failures_to_json(const struct cell_grid *grid)
{
    json_t *rows = json_array();

    for (size_t output = 0; output < grid->outputs.count; output++)
        for (size_t context = 0; context < grid->contexts.count; context++) {
            const struct failure_onset f = failure_onset_find(grid, output, context);

            if (f.found)
                json_array_append_new(rows, failure_to_json(&f));
        }
    return rows;
}
