/* Peak, saturation and where failures begin. */
#include <math.h>
#include <string.h>

#include "analysis/failures.h"
#include "analysis/saturation.h"
#include "analysis/sections.h"
#include "analysis/warnings.h"
#include "base/json.h"
#include "base/table.h"

#define MESSAGE_BYTES 200

/* ---- Peak ---- */

void peak_write(const struct grid *grid, size_t output, struct text *out)
{
    const struct peak peak = peak_find(grid, output);
    char tokens[NUMBER_SIZE], requests[NUMBER_SIZE], load[LOAD_SIZE];

    text_add(out, "### Peak\n\n");
    if (!peak.found) {
        text_add(out, "No point was measured with at least 99 % of its requests successful.\n\n");
        return;
    }
    text_addf(out, "%s output tokens/s (%s requests/s) %s %s at context %lld.%s\n\n",
              number_format(peak.output_tokens_per_s, tokens),
              number_format(figure_mean(&peak.point, QUANTITY_REQUESTS), requests),
              peak.point.is_rate ? "at" : "with",
              load_name(peak.point.load, peak.point.is_rate, load),
              (long long)peak.point.context_tokens,
              point_is_marked(&peak.point) ? " It carries a mark \"!\": see the warnings." : "");
}

json_t *peak_to_json(const struct grid *grid, size_t output)
{
    const struct peak peak = peak_find(grid, output);
    json_t *json;

    if (!peak.found)
        return json_null();
    json = json_pack(
        "{s:I, s:f, s:b, s:o}", "context_tokens", (json_int_t)peak.point.context_tokens,
        "output_tokens_per_s", peak.output_tokens_per_s, "marked", point_is_marked(&peak.point),
        "requests_per_s", json_number_or_null(figure_mean(&peak.point, QUANTITY_REQUESTS)));
    load_set(json, "", peak.point.load, peak.point.is_rate);
    return json;
}

/* ---- Saturation ---- */

static void saturation_row(struct table *table, int64_t context, const struct saturation *s)
{
    char number[NUMBER_SIZE];

    table_cell(table, "%lld", (long long)context);
    if (!s->found) {
        for (int i = 0; i < 5; i++)
            table_cell(table, "-");
        return;
    }
    table_cell(table, "%s%.6g", !s->reached ? ">=" : s->at_most ? "<=" : "", s->at.load);
    table_cell(table, "%s", number_format(s->output_tokens_per_s, number));
    table_cell(table, "%s", number_format(s->peak_tokens_per_s, number));
    table_cell(table, "%.6g", s->peak.load);
    if (s->doubled_load > 0)
        table_cell(table, "%s%.6g", s->doubled_at_most ? "<=" : "", s->doubled_load);
    else
        table_cell(table, "-");
}

void saturation_write(const struct grid *grid, size_t output, struct text *out)
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
    text_add(out, "### Saturation\n\n"
                  "Saturated at: the smallest load that reaches 95 % of the context's "
                  "peak output tokens/s;\n\">=\": only the greatest load measured does, so the "
                  "point may lie beyond. Doubled at: the smallest\nload whose E2E "
                  "median is twice that of the smallest load. \"<=\": the load below was not\n"
                  "measured.\n\n");
    table_render(table, out);
    text_add_char(out, '\n');
    table_destroy(table);
}

json_t *saturation_to_json(const struct grid *grid, size_t output)
{
    json_t *rows = json_array();

    for (size_t context = 0; context < grid->contexts.count; context++) {
        const struct saturation s = saturation_find(grid, output, context);
        json_t *row = json_pack("{s:I, s:b}", "context_tokens",
                                (json_int_t)grid->contexts.values[context], "found", s.found);

        json_array_append_new(rows, row);
        if (!s.found)
            continue;
        load_set(row, "", s.at.load, s.at.is_rate);
        json_object_set_new(row, "reached", json_boolean(s.reached));
        json_object_set_new(row, "at_most", json_boolean(s.at_most));
        json_object_set_new(row, "output_tokens_per_s", json_real(s.output_tokens_per_s));
        load_set(row, "peak_", s.peak.load, s.peak.is_rate);
        json_object_set_new(row, "peak_output_tokens_per_s", json_real(s.peak_tokens_per_s));
        if (s.doubled_load > 0)
            load_set(row, "latency_doubled_", s.doubled_load, s.at.is_rate);
        if (s.doubled_at_most)
            json_object_set_new(row, "latency_doubled_at_most", json_true());
    }
    return rows;
}

/* ---- Failures ---- */

/* Failed cells and infeasible ones, or requests lost in a measured one. */
static const char *how(const struct first_failure *f)
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

static void failure_write(const struct grid *grid, const struct first_failure *f, struct text *out)
{
    char load[LOAD_SIZE];

    text_addf(out, "- context %lld", (long long)f->point.context_tokens);
    if (grid->outputs.count > 1)
        text_addf(out, ", %lld output tokens", (long long)f->point.output_tokens);
    text_addf(out, ", at %s: %s", load_name(f->point.load, f->point.is_rate, load), how(f));
    if (f->failure != FAILURE_NONE)
        text_addf(out, ", %s", failure_name(f->failure));
    if (f->attempted > 0)
        text_addf(out, ", %lld of %lld requests", (long long)f->failed, (long long)f->attempted);
    if (f->further > 0)
        text_addf(out, "; %zu greater load%s not measured either", f->further,
                  f->further == 1 ? "" : "s");
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

void failures_write(const struct grid *grid, struct text *out)
{
    size_t found = 0;

    text_add(out, "## Where failures begin\n\n");
    for (size_t output = 0; output < grid->outputs.count; output++)
        for (size_t context = 0; context < grid->contexts.count; context++) {
            const struct first_failure f = failure_first(grid, output, context);

            if (f.found)
                failure_write(grid, &f, out);
            found += f.found;
        }
    text_add(out, found > 0 ? "\n" : "Nothing failed in what was measured.\n\n");
}

static json_t *failure_to_json(const struct first_failure *f)
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
    load_set(json, "", f->point.load, f->point.is_rate);
    return json;
}

json_t *failures_to_json(const struct grid *grid)
{
    json_t *rows = json_array();

    for (size_t output = 0; output < grid->outputs.count; output++)
        for (size_t context = 0; context < grid->contexts.count; context++) {
            const struct first_failure f = failure_first(grid, output, context);

            if (f.found)
                json_array_append_new(rows, failure_to_json(&f));
        }
    return rows;
}
