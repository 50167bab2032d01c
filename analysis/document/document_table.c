/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the cells as a table, with a column for each main figure that at least one cell has. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/charts/scale.h"
#include "analysis/document/document_parts.h"
#include "analysis/report/repetition_stats.h"

#define PART_BYTES 200 /* the maximum size of a state, status, error or list of warnings */

struct document_column {
    const char *heading;
    size_t offset; /* of the double in struct evidence_cell */
    /* The offset of the bool that is true if the figure is only a lower bound; 0: there is none. */
    size_t at_least;
    bool is_exact; /* shown with all its digits */
};

#define EXACT(heading, member)                                                                     \
    {                                                                                              \
        heading, offsetof(struct evidence_cell, member), 0, true                                   \
    }
#define FIGURE(heading, member)                                                                    \
    {                                                                                              \
        heading, offsetof(struct evidence_cell, member), 0, false                                  \
    }
#define LATENCY(heading, metric, percentile)                                                       \
    {                                                                                              \
        heading, offsetof(struct evidence_cell, latency[metric].percentile##_ms),                  \
            offsetof(struct evidence_cell, latency[metric].percentile##_at_least), false           \
    }

static const struct document_column columns[] = {
    EXACT("Users", concurrency),
    EXACT("Requests/s planned", request_rate_asked),
    EXACT("Context", input_length),
    EXACT("Output", output_tokens_asked),
    FIGURE("Requests/s", request_throughput),
    FIGURE("Output tokens/s", output_throughput),
    FIGURE("Tokens/s", token_throughput),
    LATENCY("TTFT p50, ms", METRIC_TTFT, p50),
    LATENCY("TTFT p99, ms", METRIC_TTFT, p99),
    FIGURE("TTFT mean, ms", latency[METRIC_TTFT].mean_ms),
    LATENCY("ITL p50, ms", METRIC_ITL, p50),
    LATENCY("ITL p99, ms", METRIC_ITL, p99),
    FIGURE("TPOT mean, ms", latency[METRIC_TPOT].mean_ms),
    LATENCY("E2E p50, ms", METRIC_E2E, p50),
    LATENCY("E2E p99, ms", METRIC_E2E, p99),
    FIGURE("E2E mean, ms", latency[METRIC_E2E].mean_ms),
    FIGURE("In flight", concurrency_actual),
    FIGURE("Succeeded", success_rate),
};
#define COLUMNS (sizeof columns / sizeof columns[0])

struct sheet {
    const struct chart_runs *runs;
    bool shown[COLUMNS];
    bool has_variants; /* at least one cell has a variant */
    bool has_states;   /* at least one cell was not measured, or has warnings */
};

static double value_of(const struct evidence_cell *cell, const struct document_column *column)
{
    return *(const double *)(const void *)((const char *)cell + column->offset);
}

static bool is_at_least(const struct evidence_cell *cell, const struct document_column *column)
{
    return column->at_least > 0 && *(const bool *)((const char *)cell + column->at_least);
}

/* A latency's mean is shown only if its median is not. */
static void drop_means(struct sheet *sheet)
{
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t p = 0; p < i; p++)
            if (sheet->shown[p] && strstr(columns[i].heading, " mean") != NULL
                && strstr(columns[p].heading, " p50") != NULL
                && strncmp(columns[i].heading, columns[p].heading, 4) == 0)
                sheet->shown[i] = false;
}

/* A cell whose state is unknown counts as measured. */
static bool is_measured(const struct evidence_cell *cell)
{
    return cell->state == EVIDENCE_MEASURED || cell->state == EVIDENCE_UNKNOWN;
}

static bool is_plain(const struct evidence_cell *cell)
{
    return is_measured(cell) && cell->marks[0] == '\0';
}

static struct sheet sheet_of(const struct chart_runs *runs)
{
    struct sheet sheet = { .runs = runs };

    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; i < runs->runs[r].cell_count; i++) {
            const struct evidence_cell *cell = &runs->runs[r].cells[i];

            sheet.has_variants |= cell->variant[0] != '\0';
            sheet.has_states |= !is_plain(cell);
            for (size_t c = 0; c < COLUMNS; c++)
                sheet.shown[c] |= isfinite(value_of(cell, &columns[c]));
        }
    drop_means(&sheet);
    return sheet;
}

/* ---- Rows ---- */

static void write_headings(const struct sheet *sheet, struct html *html)
{
    html_open(html, "thead");
    html_open(html, "tr");
    if (sheet->runs->count > 1)
        html_element(html, "th", "Repetition", { "scope", "col" }, { "class", "number" });
    if (sheet->has_variants)
        html_element(html, "th", "Run in the file", { "scope", "col" });
    for (size_t i = 0; i < COLUMNS; i++)
        if (sheet->shown[i])
            html_element(html, "th", columns[i].heading, { "scope", "col" }, { "class", "number" });
    if (sheet->has_states)
        html_element(html, "th", "State and warnings", { "scope", "col" });
    html_close(html, "tr");
    html_close(html, "thead");
}

static void write_figure(const struct evidence_cell *cell, const struct document_column *column,
                         struct html *html)
{
    double value = value_of(cell, column);
    char exact[SCALE_NUMBER_SIZE], number[NUMBER_SIZE];

    html_open(html, "td", { "class", "number" });
    if (isfinite(value)) {
        html_text(html, is_at_least(cell, column) ? "\xe2\x89\xa5" : "");
        html_text(html, column->is_exact ? scale_exact(value, exact)
                                         : repetition_stats_number(value, number));
    }
    html_close(html, "td");
}

static void add_part(struct text *out, const char *part)
{
    if (part == NULL || part[0] == '\0')
        return;
    text_add(out, out->length > 0 ? ": " : "");
    text_add_printable(out, part, strlen(part), PART_BYTES);
}

/* For a skipped cell, its status is shown if it has one, because it can say why the cell was
 * skipped: "pending", "inferred". */
static const char *state_name(const struct evidence_cell *cell)
{
    return cell->state == EVIDENCE_SKIPPED && cell->status[0] != '\0'
               ? cell->status
               : evidence_state_name(cell->state);
}

static void write_state(const struct evidence_cell *cell, struct html *html)
{
    TEXT_AUTO state = { 0 };

    if (!is_measured(cell) || cell->marks[0] == '\0')
        add_part(&state, state_name(cell));
    if (!is_measured(cell) && strcmp(cell->status, state_name(cell)) != 0)
        add_part(&state, cell->status);
    if (!is_measured(cell))
        add_part(&state, cell->error);
    add_part(&state, cell->marks);
    html_element(html, "td", text_string(&state));
}

/* The row's class. "first" draws a line above a measured row whose context differs from the context
 * of the previous row. */
static const char *class_of(const struct evidence *run, size_t index)
{
    const struct evidence_cell *cell = &run->cells[index];

    if (!is_measured(cell))
        return cell->state == EVIDENCE_FAILED ? "bad" : "none";
    return index > 0 && isfinite(cell->input_length) && cell->input_length != cell[-1].input_length
               ? "first"
               : NULL;
}

static void write_row(const struct sheet *sheet, const struct evidence *run, size_t index,
                      struct html *html)
{
    const struct evidence_cell *cell = &run->cells[index];

    html_open(html, "tr", { "class", class_of(run, index) });
    if (sheet->runs->count > 1) {
        html_open(html, "td", { "class", "number" });
        html_textf(html, "%lld", (long long)run->repetition + 1);
        html_close(html, "td");
    }
    if (sheet->has_variants) {
        html_open(html, "td");
        html_name(html, cell->variant);
        html_close(html, "td");
    }
    for (size_t i = 0; i < COLUMNS; i++)
        if (sheet->shown[i])
            write_figure(cell, &columns[i], html);
    if (sheet->has_states)
        write_state(cell, html);
    html_close(html, "tr");
}

/* Returns the number of cells that did not fit. */
static size_t write_rows(const struct sheet *sheet, size_t limit, struct html *html)
{
    size_t missing = 0;

    html_open(html, "tbody");
    for (size_t r = 0; r < sheet->runs->count; r++)
        for (size_t i = 0; i < sheet->runs->runs[r].cell_count; i++) {
            if (html->out->length < limit)
                write_row(sheet, &sheet->runs->runs[r], i, html);
            else
                missing++;
        }
    html_close(html, "tbody");
    return missing;
}

void document_write_missing(size_t cells, const char *elsewhere, struct html *html)
{
    if (cells == 0)
        return;
    html_open(html, "p", { "class", "soft" });
    html_textf(html, "%zu more cell%s not fit here: %s.", cells, cells == 1 ? " does" : "s do",
               elsewhere);
    html_close(html, "p");
}

void document_write_table(const struct document_part *part, size_t limit, struct html *html)
{
    const struct sheet sheet = sheet_of(&part->runs);
    size_t missing;

    html_element(html, "h2", "Cells");
    html_open(html, "div", { "class", "scroll" }, { "tabindex", "0" }, { "role", "region" },
              { "aria-label", "Cells" });
    html_open(html, "table", { "class", "cells" });
    write_headings(&sheet, html);
    missing = write_rows(&sheet, limit, html);
    html_close(html, "table");
    html_close(html, "div");
    document_write_missing(missing, "run_export writes all cells", html);
}
