/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the fields of a table's row: figures, facts and words. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "analysis/import/import_figure.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"
#include "base/core/memory.h"

#define FIELD_SIZE 1024        /* bytes; a longer field is truncated */
#define FIELDS_KEPT_MAX 400000 /* of all rows together; a file with more is refused */

void import_table_copy(const struct import_table *table, size_t i, char *out, size_t size)
{
    struct csv_field field = table->csv.fields[i];

    while (field.length > 0 && (*field.text == ' ' || *field.text == '\t')) {
        field.text++;
        field.length--;
    }
    while (field.length > 0
           && (field.text[field.length - 1] == ' ' || field.text[field.length - 1] == '\t'))
        field.length--;
    csv_copy(&field, out, size);
}

void import_table_remark_misfit(struct import_table *table, const char *column, const char *value)
{
    long long line = (long long)table->csv.line;

    table->misfit_fields = table->csv.count;
    if (table->misfits++ >= IMPORT_TABLE_REMARKS_MAX)
        return;
    if (column == NULL)
        evidence_remark(table->out, "line %lld has %zu fields where the heading has %zu: skipped",
                        line, table->csv.count, table->count);
    else
        evidence_remark(table->out,
                        "%s %lld: \"%.60s\" is not a number that fits the column \"%s\": left "
                        "unknown",
                        table->has_row_numbers ? "row" : "line", line, value, column);
}

/* ---- Figures ---- */

/* One millisecond in the unit in which cells store this column's times: 0.001 (seconds) or 1
 * (milliseconds). NaN: the column holds no times. */
static double units_per_ms(const struct import_column *column)
{
    size_t first = offsetof(struct evidence_cell, latency);

    if (column->offset == offsetof(struct evidence_cell, duration_s)
        || column->offset == offsetof(struct evidence_cell, timeout_s))
        return 0.001;
    return column->offset >= first
                   && column->offset < first + METRIC_COUNT * sizeof(struct evidence_latency)
               ? 1
               : NAN;
}

bool import_table_is_share(const struct import_column *column)
{
    return column->offset == offsetof(struct evidence_cell, success_rate)
           || column->offset == offsetof(struct evidence_cell, cached_share);
}

/* Sets the run's unit of lengths if it is not known yet; false: the run has a different unit. */
static bool agree_on_unit(struct evidence *out, enum length_unit unit)
{
    if (out->input_unit == LENGTH_UNKNOWN)
        out->input_unit = unit;
    return out->input_unit == unit;
}

/* Converts the figure to the cell's unit; false: its unit does not fit the column, or the result is
 * not finite. */
static bool apply_unit(struct import_table *table, const struct import_column *column,
                       const struct import_figure *figure, double *out)
{
    *out = figure->value * column->scale;
    if (figure->is_percent)
        *out = figure->value / 100;
    else if (!isnan(figure->ms))
        *out = figure->value * figure->ms * units_per_ms(column);
    if (figure->is_percent && !import_table_is_share(column))
        return false;
    if (figure->unit != LENGTH_UNKNOWN
        && column->offset == offsetof(struct evidence_cell, input_length))
        return agree_on_unit(table->out, figure->unit);
    return isfinite(*out);
}

static void remark_assumed(struct import_table *table, const char *text, double value)
{
    if (table->has_assumed)
        return;
    table->has_assumed = true;
    evidence_remark(table->out, "\"%.20s\" was read as %.15g, and similar figures likewise", text,
                    value);
}

/* Adds a text that stands in place of a number of users or a length to the cell's variant, so that
 * cells with different texts remain different cells. */
static void add_to_variant(const struct import_column *column, const char *text,
                           struct evidence_cell *cell)
{
    TEXT_AUTO variant = { 0 };

    if (column->offset != offsetof(struct evidence_cell, concurrency)
        && column->offset != offsetof(struct evidence_cell, input_length)
        && column->offset != offsetof(struct evidence_cell, output_tokens_asked))
        return;
    text_addf(&variant, "%s%s%s", cell->variant, cell->variant[0] != '\0' ? ", " : "", text);
    text_copy(cell->variant, sizeof cell->variant, text_string(&variant));
}

static void read_word(struct import_table *table, size_t i, const char *text,
                      struct evidence_cell *cell)
{
    if (import_state_of(text) > EVIDENCE_MEASURED)
        text_copy(table->word, sizeof table->word, text);
    else
        import_table_remark_misfit(table, table->headings[i], text);
    add_to_variant(&table->columns[i], text, cell);
}

static void read_number(struct import_table *table, size_t i, const char *text,
                        struct evidence_cell *cell)
{
    const struct import_column *column = &table->columns[i];
    double *at = (double *)(void *)((char *)cell + column->offset), value;
    struct import_figure figure;

    if (import_figure_is_nothing(text) || (table->has_alternatives && !isnan(*at)))
        return;
    if (!import_figure_read(text, table->csv.separator == ';', &figure)
        || !apply_unit(table, column, &figure, &value)) {
        read_word(table, i, text, cell);
        return;
    }
    if (figure.assumed)
        remark_assumed(table, text, value);
    *at = value;
}

static void read_fact(struct import_table *table, size_t i, const char *text)
{
    char *at = (char *)&table->out->facts + table->columns[i].offset;

    if (!table->fact_seen[i])
        text_copy(at, table->columns[i].size, text);
    else if (strncmp(at, text, table->columns[i].size - 1) != 0)
        table->fact_differs[i] = true;
    table->fact_seen[i] = true;
}

static void read_fact_number(struct import_table *table, size_t i, const char *text)
{
    double *at = (double *)(void *)((char *)&table->out->facts + table->columns[i].offset);
    struct import_figure figure;
    double value = import_figure_read(text, false, &figure) ? figure.value : NAN;

    if (!table->fact_seen[i])
        *at = value;
    else if (isnan(*at) != isnan(value) || fabs(*at - value) > 1e-9)
        table->fact_differs[i] = true;
    table->fact_seen[i] = true;
}

static void read_field(struct import_table *table, size_t i, struct evidence_cell *cell)
{
    char text[FIELD_SIZE];

    if (table->csv.fields[i].text == NULL)
        return; /* a JSON row without this member */
    import_table_copy(table, i, text, sizeof text);
    json_object_set_new(cell->original, table->headings[i], json_string(text));
    switch (table->columns[i].kind) {
    case IMPORT_COLUMN_NUMBER:
        read_number(table, i, text, cell);
        break;
    case IMPORT_COLUMN_TEXT:
        text_copy((char *)cell + table->columns[i].offset, table->columns[i].size, text);
        break;
    case IMPORT_COLUMN_FACT:
        read_fact(table, i, text);
        break;
    case IMPORT_COLUMN_FACT_NUMBER:
        read_fact_number(table, i, text);
        break;
    case IMPORT_COLUMN_ERROR:
        if (text[0] != '\0' && cell->error == NULL)
            cell->error = memory_copy_text(text);
        break;
    case IMPORT_COLUMN_UNKNOWN:
        break;
    }
}

/* If the row has neither a status nor a speed, a word in place of a figure becomes its status. */
static void use_word(const struct import_table *table, struct evidence_cell *cell)
{
    if (table->word[0] != '\0' && cell->status[0] == '\0' && !import_has_speed(cell))
        text_copy(cell->status, sizeof cell->status, table->word);
}

static void read_fields(struct import_table *table, struct evidence_cell *cell)
{
    table->word[0] = '\0';
    for (size_t i = 0; i < table->count; i++)
        read_field(table, i, cell);
    use_word(table, cell);
}

bool import_table_add_row(struct import_table *table, struct error *error)
{
    struct evidence_cell *cell;

    table->fields_kept += table->count;
    if (table->fields_kept > FIELDS_KEPT_MAX)
        return error_set(error, ERROR_INVALID,
                         "the file has more than %d fields: import it in parts", FIELDS_KEPT_MAX);
    if (!import_cell(table->out, &cell, error))
        return false;
    cell->row = table->csv.line;
    cell->original = json_object();
    read_fields(table, cell);
    return true;
}
