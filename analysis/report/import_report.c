/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/import_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report/repetition_stats.h"
#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/formats/table.h"

#define COLUMNS_AT_ONCE 12
/* No tables are written for a file that exceeds one of these: */
#define CELLS_IN_TABLES_MAX 4000
#define ROWS_IN_TABLES_MAX 200
#define USERS_IN_TABLES_MAX 60 /* different numbers of users in one variant */
#define VARIANTS_IN_TABLES_MAX 20

#define UNMEASURED_SHOWN 20

/* A figure that is shown as a matrix. */
struct shown {
    const char *title;
    size_t offset; /* offset of a double in struct evidence_cell */
};
#define SHOWN(title, member)                                                                       \
    {                                                                                              \
        title, offsetof(struct evidence_cell, member)                                              \
    }

static const struct shown shown[] = {
    SHOWN("Requests per second", request_throughput),
    SHOWN("Output tokens per second", output_throughput),
    SHOWN("Tokens per second (the file does not say which tokens)", token_throughput),
    SHOWN("TTFT median, ms", latency[METRIC_TTFT].p50_ms),
    SHOWN("TTFT mean, ms", latency[METRIC_TTFT].mean_ms),
    SHOWN("TTFT p99, ms", latency[METRIC_TTFT].p99_ms),
    SHOWN("TPOT mean, ms", latency[METRIC_TPOT].mean_ms),
    SHOWN("ITL mean, ms", latency[METRIC_ITL].mean_ms),
    SHOWN("Gap between chunks mean, ms", latency[METRIC_ICL].mean_ms),
    SHOWN("Whole request mean, ms", latency[METRIC_E2E].mean_ms),
    SHOWN("Whole request p95, ms", latency[METRIC_E2E].p95_ms),
    SHOWN("Whole request p99, ms", latency[METRIC_E2E].p99_ms),
};

/* Writes the value to `out`, with up to ten digits, and returns `out`; "?": it is not known. */
static const char *exact(double value, char out[NUMBER_SIZE])
{
    if (isnan(value))
        return "?";
    snprintf(out, NUMBER_SIZE, "%.10g", value);
    return out;
}

static double value_of(const struct evidence_cell *cell, size_t offset)
{
    return *(const double *)(const void *)((const char *)cell + offset);
}

/* ---- Axes ---- */

struct values {
    double *data; /* ascending, without duplicates; NaN (not known) comes last */
    size_t count;
};

/* The cells of one variant, and the figure whose matrix is being written. In a file with several
 * runs, each variant has its own matrices. */
struct matrix {
    const struct evidence_cell **cells;
    size_t count;
    const struct shown *shown;
    struct values lengths, outputs, users;
};

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    if (isnan(left) || isnan(right))
        return isnan(left) - isnan(right);
    return (left > right) - (left < right);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static struct values values_of(const struct matrix *matrix, size_t offset)
{
    struct values values = { memory_zeroed(matrix->count + 1, sizeof(double)), 0 };
    size_t distinct = 0;

    for (size_t i = 0; i < matrix->count; i++)
        values.data[values.count++] = value_of(matrix->cells[i], offset);
    qsort(values.data, values.count, sizeof *values.data, compare);
    for (size_t i = 0; i < values.count; i++)
        if (distinct == 0 || !same(values.data[i], values.data[distinct - 1]))
            values.data[distinct++] = values.data[i];
    values.count = distinct;
    return values;
}

/* ---- Matrices ---- */

static void write_value(const struct matrix *matrix, const struct evidence_cell *cell,
                        struct text *out)
{
    double value = value_of(cell, matrix->shown->offset);
    char number[NUMBER_SIZE];

    if (out->length > 0)
        text_add(out, " / ");
    if (cell->state != EVIDENCE_MEASURED && cell->state != EVIDENCE_UNKNOWN)
        text_add(out, evidence_state_name(cell->state));
    else if (isnan(value))
        text_add(out, "?");
    else
        text_addf(out, "%s%s", repetition_stats_number(value, number),
                  cell->success_rate < CELL_GRID_SOUND_SUCCESS ? "!" : "");
}

/* Writes the values of all cells at one point, in the file's order. */
static void write_point(const struct matrix *matrix, double length, double output, double users,
                        struct table *table)
{
    TEXT_AUTO text = { 0 };

    for (size_t i = 0; i < matrix->count; i++) {
        const struct evidence_cell *cell = matrix->cells[i];

        if (same(cell->input_length, length) && same(cell->output_tokens_asked, output)
            && same(cell->concurrency, users))
            write_value(matrix, cell, &text);
    }
    table_cell(table, "%s", text.length > 0 ? text_string(&text) : "-");
}

static void write_label(double length, double output, struct table *table)
{
    char number[NUMBER_SIZE], second[NUMBER_SIZE];

    table_cell(table, "%s", exact(length, number));
    table_cell(table, "%s", exact(output, second));
}

static bool has_point(const struct matrix *matrix, double length, double output)
{
    for (size_t i = 0; i < matrix->count; i++)
        if (same(matrix->cells[i]->input_length, length)
            && same(matrix->cells[i]->output_tokens_asked, output))
            return true;
    return false;
}

static void write_block(const struct matrix *matrix, size_t first, size_t count, struct text *out)
{
    struct table *table = table_create();
    char number[NUMBER_SIZE];

    table_column(table, "Input", true);
    table_column(table, "Output", true);
    for (size_t u = first; u < first + count; u++)
        table_column(table, exact(matrix->users.data[u], number), true);
    for (size_t o = 0; o < matrix->outputs.count; o++)
        for (size_t l = 0; l < matrix->lengths.count; l++) {
            double length = matrix->lengths.data[l], output = matrix->outputs.data[o];

            if (!has_point(matrix, length, output))
                continue;
            write_label(length, output, table);
            for (size_t u = first; u < first + count; u++)
                write_point(matrix, length, output, matrix->users.data[u], table);
        }
    table_render(table, out);
    table_destroy(table);
    text_add_char(out, '\n');
}

static bool is_known(const struct matrix *matrix, size_t offset)
{
    for (size_t i = 0; i < matrix->count; i++)
        if (isfinite(value_of(matrix->cells[i], offset)))
            return true;
    return false;
}

static void write_matrix(struct matrix *matrix, const struct shown *row, struct text *out)
{
    matrix->shown = row;
    text_addf(out, "### %s\n\n", row->title);
    for (size_t u = 0; u < matrix->users.count; u += COLUMNS_AT_ONCE) {
        size_t left = matrix->users.count - u;

        write_block(matrix, u, left < COLUMNS_AT_ONCE ? left : COLUMNS_AT_ONCE, out);
    }
}

static void write_known(struct matrix *matrix, struct text *out)
{
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (is_known(matrix, shown[i].offset))
            write_matrix(matrix, &shown[i], out);
}

/* ---- The runs of a file ---- */

static void matrix_init(struct matrix *matrix, const struct evidence *evidence, const char *variant)
{
    *matrix =
        (struct matrix){ .cells = memory_zeroed(evidence->cell_count + 1, sizeof *matrix->cells) };
    for (size_t i = 0; i < evidence->cell_count; i++)
        if (strcmp(evidence->cells[i].variant, variant) == 0)
            matrix->cells[matrix->count++] = &evidence->cells[i];
    matrix->lengths = values_of(matrix, offsetof(struct evidence_cell, input_length));
    matrix->outputs = values_of(matrix, offsetof(struct evidence_cell, output_tokens_asked));
    matrix->users = values_of(matrix, offsetof(struct evidence_cell, concurrency));
}

static void matrix_finish(struct matrix *matrix)
{
    free(matrix->cells);
    free(matrix->lengths.data);
    free(matrix->outputs.data);
    free(matrix->users.data);
}

struct matrices {
    struct matrix at[VARIANTS_IN_TABLES_MAX]; /* in the file's order */
    size_t count;
    bool is_too_large;
};

static bool has_variant(const struct matrices *matrices, const char *variant)
{
    for (size_t i = 0; i < matrices->count; i++)
        if (strcmp(matrices->at[i].cells[0]->variant, variant) == 0)
            return true;
    return false;
}

static void matrices_init(struct matrices *matrices, const struct evidence *evidence)
{
    size_t rows = 0;

    *matrices = (struct matrices){ .is_too_large = evidence->cell_count > CELLS_IN_TABLES_MAX };
    for (size_t i = 0; i < evidence->cell_count && !matrices->is_too_large; i++) {
        struct matrix *matrix = &matrices->at[matrices->count];

        if (has_variant(matrices, evidence->cells[i].variant))
            continue;
        matrices->is_too_large = matrices->count == VARIANTS_IN_TABLES_MAX;
        if (matrices->is_too_large)
            break;
        matrix_init(matrix, evidence, evidence->cells[i].variant);
        matrices->count++;
        rows += matrix->lengths.count * matrix->outputs.count;
        matrices->is_too_large =
            rows > ROWS_IN_TABLES_MAX || matrix->users.count > USERS_IN_TABLES_MAX;
    }
}

static void write_variant(const struct matrix *matrix, struct text *out)
{
    const char *variant = matrix->cells[0]->variant;

    text_add(out, "## ");
    text_add_printable(out, variant, strlen(variant), sizeof matrix->cells[0]->variant);
    text_add(out, variant[0] == '\0' ? "(no name)\n\n" : "\n\n");
}

static void write_matrices(const struct evidence *evidence, struct text *out)
{
    struct matrices matrices;

    matrices_init(&matrices, evidence);
    if (matrices.is_too_large)
        text_add(out,
                 "The grid is too large for tables: run_show lists its rows page by page.\n\n");
    for (size_t i = 0; i < matrices.count; i++) {
        if (!matrices.is_too_large && matrices.count > 1)
            write_variant(&matrices.at[i], out);
        if (!matrices.is_too_large)
            write_known(&matrices.at[i], out);
        matrix_finish(&matrices.at[i]);
    }
}

/* ---- Other sections ---- */

static void write_facts(const struct evidence *evidence, struct text *out)
{
    json_auto_t *facts = evidence_facts_json(&evidence->facts);
    const char *name;
    json_t *value;

    if (json_object_size(facts) == 0)
        text_add(out, "The file does not name the model, engine, hardware or price.\n");
    json_object_foreach(facts, name, value) {
        char number[NUMBER_SIZE];

        text_addf(out, "- %s: ", name);
        if (json_is_string(value))
            text_add_printable(out, json_string_value(value), json_string_length(value), 400);
        else
            text_add(out, exact(json_number_value(value), number));
        text_add_char(out, '\n');
    }
}

static void write_head(const struct evidence *evidence, struct text *out)
{
    char time[CLOCK_TEXT_SIZE];

    text_addf(out, "# Imported run %s: ", evidence->id);
    text_add_printable(out, evidence->name, strlen(evidence->name), sizeof evidence->name);
    text_addf(
        out,
        "\n\nNot measured by this server: read from a %s file (SHA-256 %.12s...) that %s imported "
        "at %s. What the file does not say is not shown.\n\n",
        evidence->format, evidence->digest, evidence->principal,
        clock_format_utc(evidence->created_ms, time));
    write_facts(evidence, out);
    text_addf(out, "- %zu cell%s; ", evidence->cell_count, evidence->cell_count == 1 ? "" : "s");
    if (evidence->input_unit == LENGTH_UNKNOWN)
        text_add(out, "the file does not say whether input lengths are tokens or words");
    else
        text_addf(out, "input lengths are counted in %s", length_unit_name(evidence->input_unit));
    text_add(out,
             "\n\nRows: input and output length; columns: users. \"?\": not known; \"!\": fewer "
             "than 99 % of the requests succeeded; \"a / b\": the file has the cell more than "
             "once.\n\n");
}

static void write_unmeasured(const struct evidence *evidence, struct text *out)
{
    size_t unmeasured = 0;

    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];
        char users[NUMBER_SIZE], length[NUMBER_SIZE];
        const char *why = cell->error != NULL ? cell->error : cell->status;

        if (cell->state == EVIDENCE_MEASURED || cell->state == EVIDENCE_UNKNOWN)
            continue;
        if (unmeasured++ >= UNMEASURED_SHOWN)
            continue;
        text_addf(out, "%s- row %lld (%s user%s, input %s): %s",
                  unmeasured == 1 ? "## Not measured\n\n" : "", (long long)cell->row,
                  exact(cell->concurrency, users), cell->concurrency == 1 ? "" : "s",
                  exact(cell->input_length, length), evidence_state_name(cell->state));
        if (why[0] != '\0') {
            text_add(out, ": ");
            text_add_printable(out, why, strlen(why), 200);
        }
        text_add_char(out, '\n');
    }
    if (unmeasured > UNMEASURED_SHOWN)
        text_addf(out, "- and %zu more\n", unmeasured - UNMEASURED_SHOWN);
}

static void write_remarks(const struct evidence *evidence, struct text *out)
{
    const json_t *remark;
    size_t i;

    if (json_array_size(evidence->remarks) == 0)
        return;
    text_add(out, "\n## Remarks from the import\n\n");
    json_array_foreach(evidence->remarks, i, remark)
        text_addf(out, "- %s\n", json_string_value(remark));
}

void import_report_write(const struct evidence *evidence, struct text *out)
{
    write_head(evidence, out);
    write_matrices(evidence, out);
    write_unmeasured(evidence, out);
    write_remarks(evidence, out);
}
