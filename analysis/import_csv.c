/* Tables: a heading, then a row per cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import_columns.h"
#include "analysis/import_formats.h"
#include "analysis/import_members.h"
#include "analysis/import_variant.h"
#include "base/csv.h"
#include "base/memory.h"

#define FIELDS_KEPT_MAX 400000 /* of all rows together */
#define FIELD_SIZE 1024        /* what is longer is cut */
#define REMARKS_MAX 40

struct table {
    struct csv csv;
    struct evidence *out;
    size_t count;
    struct import_column columns[CSV_FIELDS_MAX];
    char headings[CSV_FIELDS_MAX][HEADING_SIZE]; /* as they stand in the file */
    bool fact_differs[CSV_FIELDS_MAX];
    size_t fields_kept, odd_rows;
};

bool import_sniff_csv(const char *bytes, size_t length)
{
    const char *end = memchr(bytes, '\n', length);
    size_t first = end == NULL ? length : (size_t)(end - bytes);

    return length > 0 && bytes[0] != '{' && bytes[0] != '['
           && (memchr(bytes, ',', first) != NULL || memchr(bytes, ';', first) != NULL
               || memchr(bytes, '\t', first) != NULL);
}

/* ---- The heading ---- */

static void tell_columns(struct table *table)
{
    TEXT_AUTO unknown = { 0 };

    for (size_t i = 0; i < table->count; i++) {
        const struct import_column *column = &table->columns[i];
        char name[HEADING_SIZE];

        if (column->assumed != NULL)
            evidence_remark(table->out, "the name of the column \"%s\" has no unit: read as %s",
                            table->headings[i], column->assumed);
        column_normalize(table->headings[i], name);
        if (column->kind == COLUMN_UNKNOWN && !import_is_variant(name))
            text_addf(&unknown, "%s\"%s\"", unknown.length > 0 ? ", " : "", table->headings[i]);
    }
    if (unknown.length > 0)
        evidence_remark(table->out, "columns not known here, kept as text: %s",
                        text_string(&unknown));
}

static bool find_columns(struct table *table, struct error *error)
{
    size_t numbers = 0;

    for (size_t i = 0; i < table->count; i++) {
        char name[HEADING_SIZE];

        csv_copy(&table->csv.fields[i], table->headings[i], HEADING_SIZE);
        column_normalize(table->headings[i], name);
        table->columns[i] = column_find(name);
        numbers += table->columns[i].kind == COLUMN_NUMBER;
        if (table->columns[i].unit != LENGTH_UNKNOWN)
            table->out->input_unit = table->columns[i].unit;
    }
    if (numbers >= 2)
        return true;
    return error_set(
        error, ERROR_INVALID,
        "the first line of the CSV names fewer than two known columns (it has \"%.60s\", "
        "...): give a heading such as concurrency,input_len,output_tok_per_s,"
        "mean_ttft_ms",
        table->headings[0]);
}

/* Two columns of one meaning: the first counts, the other is kept as text. */
static void drop_repeated_columns(struct table *table)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < i; j++)
            if (table->columns[i].kind == COLUMN_NUMBER && table->columns[j].kind == COLUMN_NUMBER
                && table->columns[i].offset == table->columns[j].offset)
                table->columns[i].kind = COLUMN_UNKNOWN;
}

static bool read_heading(struct table *table, struct error *error)
{
    bool more;

    if (!csv_next(&table->csv, &more, error))
        return false;
    if (!more)
        return error_set(error, ERROR_INVALID,
                         "the CSV is empty: its first line must be a heading");
    table->count = table->csv.count;
    if (!find_columns(table, error))
        return false;
    drop_repeated_columns(table);
    tell_columns(table);
    return true;
}

/* ---- Rows ---- */

static bool is_heading(const struct table *table)
{
    char text[HEADING_SIZE];

    if (table->csv.count != table->count)
        return false;
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(csv_copy(&table->csv.fields[i], text, sizeof text), table->headings[i]) != 0)
            return false;
    return true;
}

static void odd_row(struct table *table, const char *column, const char *value)
{
    long long line = (long long)table->csv.line;

    if (table->odd_rows++ >= REMARKS_MAX)
        return;
    if (column == NULL)
        evidence_remark(table->out, "line %lld has %zu fields where the heading has %zu: left out",
                        line, table->csv.count, table->count);
    else
        evidence_remark(table->out,
                        "line %lld: \"%.60s\" in the column \"%s\" is not a number that "
                        "fits: not known",
                        line, value, column);
}

static bool is_nothing(const char *text)
{
    static const char *const words[] = { "", "-", "n/a", "na", "nan", "null", "none", "inf" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasecmp(text, words[i]) == 0)
            return true;
    return false;
}

/* Strict: no hexadecimal, no infinity. */
static bool to_number(const char *text, double *out)
{
    char *end;

    if (strspn(text, "0123456789+-.eE") != strlen(text))
        return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

static void read_number(struct table *table, size_t i, const char *text, struct evidence_cell *cell)
{
    double *at = (double *)(void *)((char *)cell + table->columns[i].offset), value;

    if (is_nothing(text))
        return;
    if (to_number(text, &value) && value >= 0)
        *at = value * table->columns[i].scale;
    else
        odd_row(table, table->headings[i], text);
}

static void read_fact(struct table *table, size_t i, const char *text)
{
    char *at = (char *)&table->out->facts + table->columns[i].offset;
    bool first = table->out->cell_count == 1;

    if (first)
        text_copy(at, table->columns[i].size, text);
    else if (strncmp(at, text, table->columns[i].size - 1) != 0)
        table->fact_differs[i] = true;
}

static void read_field(struct table *table, size_t i, struct evidence_cell *cell)
{
    char text[FIELD_SIZE];

    csv_copy(&table->csv.fields[i], text, sizeof text);
    json_object_set_new(cell->original, table->headings[i], json_string(text));
    switch (table->columns[i].kind) {
    case COLUMN_NUMBER:
        read_number(table, i, text, cell);
        break;
    case COLUMN_TEXT:
        text_copy((char *)cell + table->columns[i].offset, table->columns[i].size, text);
        break;
    case COLUMN_FACT:
        read_fact(table, i, text);
        break;
    case COLUMN_ERROR:
        if (text[0] != '\0' && cell->error == NULL)
            cell->error = memory_copy_text(text);
        break;
    case COLUMN_UNKNOWN:
        break;
    }
}

static bool read_row(struct table *table, struct error *error)
{
    struct evidence_cell *cell;

    if (is_heading(table)) {
        evidence_remark(table->out,
                        "line %lld is the heading again: another run was appended to the file",
                        (long long)table->csv.line);
        return true;
    }
    if (table->csv.count != table->count) {
        odd_row(table, NULL, NULL);
        return true;
    }
    table->fields_kept += table->count;
    if (table->fields_kept > FIELDS_KEPT_MAX)
        return error_set(error, ERROR_INVALID,
                         "the file has more than %d fields: import it in parts", FIELDS_KEPT_MAX);
    if (!import_cell(table->out, &cell, error))
        return false;
    cell->row = table->csv.line;
    cell->original = json_object();
    for (size_t i = 0; i < table->count; i++)
        read_field(table, i, cell);
    return true;
}

/* ---- What only all rows together tell ---- */

/* A share above 1 is percent, and then all of the column is. */
static void settle_percent(struct evidence *out)
{
    bool percent = false;

    for (size_t i = 0; i < out->cell_count; i++)
        percent |= out->cells[i].success_rate > 1;
    if (!percent)
        return;
    evidence_remark(out, "success rates above 1: read as percent");
    for (size_t i = 0; i < out->cell_count; i++)
        out->cells[i].success_rate /= 100;
}

/* Of one user, requests per second times their seconds are one: whatever else a "throughput" may
 * count, it would not be. */
static bool is_request_throughput(const struct evidence *out)
{
    for (size_t i = 0; i < out->cell_count; i++) {
        const struct evidence_cell *cell = &out->cells[i];
        double little = cell->request_throughput * cell->latency[METRIC_E2E].mean_ms / 1000;

        if (cell->concurrency == 1 && little > 0)
            return little > 0.8 && little < 1.05;
    }
    return false;
}

static void settle_throughput(const struct table *table)
{
    struct evidence *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        if (!table->columns[i].is_throughput || table->columns[i].kind != COLUMN_NUMBER)
            continue;
        if (is_request_throughput(out)) {
            evidence_remark(out,
                            "the column \"%s\" has no unit: requests per second, since at 1 "
                            "user it is the inverse of the mean latency",
                            table->headings[i]);
            continue;
        }
        evidence_remark(out,
                        "the column \"%s\" has no unit, and nothing in the file tells it: kept "
                        "as text",
                        table->headings[i]);
        for (size_t c = 0; c < out->cell_count; c++)
            out->cells[c].request_throughput = NAN;
    }
}

static void settle_facts(const struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table->fact_differs[i])
            continue;
        *((char *)&table->out->facts + table->columns[i].offset) = '\0';
        evidence_remark(table->out,
                        "the rows differ in \"%s\": the file holds several runs, see each row",
                        table->headings[i]);
    }
}

static void settle(struct table *table)
{
    struct evidence *out = table->out;

    settle_percent(out);
    settle_throughput(table);
    settle_facts(table);
    for (size_t i = 0; i < out->cell_count; i++)
        import_settle(&out->cells[i]);
    if (table->odd_rows > REMARKS_MAX)
        evidence_remark(out, "%zu more rows or figures did not fit", table->odd_rows - REMARKS_MAX);
}

static bool read_rows(struct table *table, struct error *error)
{
    bool more = true;

    if (!read_heading(table, error))
        return false;
    while (csv_next(&table->csv, &more, error) && more)
        if (!read_row(table, error))
            return false;
    if (more)
        return false;
    settle(table);
    return true;
}

bool import_read_csv(const char *bytes, size_t length, struct evidence *out, struct error *error)
{
    FREE_AUTO struct table *table = memory_zeroed(1, sizeof *table);

    table->out = out;
    csv_init(&table->csv, bytes, length);
    return read_rows(table, error);
}
