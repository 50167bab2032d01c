/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the meaning of a table's columns: the one that the caller states, else the one that is
 * known for the tool, else the one that the column's name shows. */
#include "analysis/import/import_table.h"

#include <stdio.h>
#include <string.h>

/* ---- What a heading means ---- */

/* The name in `stated`, which is "heading=name"; NULL: `stated` is for another heading. */
static const char *stated_name(const char *stated, const char *heading)
{
    const char *equals = strrchr(stated, '=');
    char given[HEADING_SIZE], normalized[HEADING_SIZE], wanted[HEADING_SIZE];

    if (equals == NULL || equals - stated >= HEADING_SIZE)
        return NULL;
    snprintf(given, sizeof given, "%.*s", (int)(equals - stated), stated);
    import_column_normalize(given, normalized);
    import_column_normalize(heading, wanted);
    return strcmp(normalized, wanted) == 0 ? equals + 1 : NULL;
}

static struct import_column find_named(const char *name)
{
    struct import_column column = { .is_ignored = true };
    char normalized[HEADING_SIZE];

    import_column_normalize(name, normalized);
    return normalized[0] == '\0' ? column : import_column_find(normalized);
}

/* The meaning of a heading: as the caller stated it, else as the tool defines it, else derived from
 * the heading itself. */
static struct import_column find_meaning(const struct import_table *table, const char *heading)
{
    const struct import_alias *alias = table->aliases;
    const char *const *stated = table->stated;
    const char *name;

    for (; stated != NULL && *stated != NULL; stated++)
        if ((name = stated_name(*stated, heading)) != NULL)
            return find_named(name);
    for (; alias != NULL && alias->heading != NULL; alias++) {
        if (strcmp(alias->heading, heading) == 0)
            return find_named(alias->name);
        if (strcmp(alias->heading, "*") == 0)
            return (struct import_column){ .is_ignored = true, .is_other = true };
    }
    return find_named(heading);
}

/* Skips the name of an object that only groups figures: "results.rps" becomes "rps". NULL: the
 * heading does not begin with such a name. */
static const char *skip_group(const char *heading)
{
    static const char *const groups[] = { "metrics",    "results", "result",    "summary",
                                          "stats",      "latency", "latencies", "throughput",
                                          "raw",        "params",  "boot",      "performance",
                                          "parameters", "config",  "load",      "workload" };
    const char *dot = strchr(heading, '.');

    for (size_t i = 0; dot != NULL && i < sizeof groups / sizeof groups[0]; i++)
        if (strncmp(heading, groups[i], (size_t)(dot - heading)) == 0
            && groups[i][dot - heading] == '\0')
            return dot + 1;
    return NULL;
}

static struct import_column find_column(const struct import_table *table, const char *heading)
{
    struct import_column column = find_meaning(table, heading);

    while (column.kind == IMPORT_COLUMN_UNKNOWN && !column.is_ignored && table->has_alternatives
           && (heading = skip_group(heading)) != NULL)
        column = find_meaning(table, heading);
    return column;
}

static const char *find_heading(const struct import_table *table, const char *stated)
{
    for (size_t i = 0; i < table->count; i++)
        if (stated_name(stated, table->headings[i]) != NULL)
            return table->headings[i];
    return NULL;
}

bool import_table_check_stated(const char *const *stated, struct error *error)
{
    for (; stated != NULL && *stated != NULL; stated++) {
        const char *equals = strrchr(*stated, '=');
        struct import_column column = { .kind = IMPORT_COLUMN_UNKNOWN };

        if (equals != NULL)
            column = find_named(equals + 1);
        if (equals == NULL || (column.kind == IMPORT_COLUMN_UNKNOWN && !column.is_ignored))
            return error_set(
                error, ERROR_INVALID,
                "\"columns\" has \"%.80s\", which names no column known here: give "
                "HEADING=NAME with a name that says what is counted, such as "
                "concurrency, input_len, output_len, requests_per_s, "
                "output_tok_per_s, mean_ttft_ms, p99_e2e_s, success_rate, or \"HEADING=\" "
                "to skip the column",
                *stated);
    }
    return true;
}

/* ---- All columns ---- */

void import_table_add_column(struct import_table *table, const char *heading)
{
    size_t i = table->count++;

    text_copy(table->headings[i], HEADING_SIZE, heading);
    table->columns[i] = find_column(table, table->headings[i]);
}

static bool is_rate(const struct import_column *column)
{
    return column->offset >= offsetof(struct evidence_cell, request_throughput)
           && column->offset < offsetof(struct evidence_cell, concurrency_actual);
}

static bool is_latency(const struct import_column *column)
{
    size_t first = offsetof(struct evidence_cell, latency);

    return column->offset >= first
           && column->offset < first + METRIC_COUNT * sizeof(struct evidence_latency);
}

size_t import_table_known(const struct import_table *table, size_t *results)
{
    size_t known = 0;

    *results = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct import_column *column = &table->columns[i];

        known += column->kind == IMPORT_COLUMN_NUMBER || (column->is_ignored && !column->is_other);
        *results += column->kind == IMPORT_COLUMN_NUMBER && (is_rate(column) || is_latency(column));
    }
    return known;
}

static void find_unit(struct import_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].kind != IMPORT_COLUMN_UNKNOWN
            && table->columns[i].unit != LENGTH_UNKNOWN)
            table->out->input_unit = table->columns[i].unit;
}

/* Whether only the rows can show what the column counts. */
static bool is_vague(const struct import_column *column)
{
    return column->may_be_total || column->is_bare_throughput;
}

/* Whether both are columns for the same figure. */
static bool are_alike(const struct import_column *a, const struct import_column *b)
{
    return a != b && a->kind == IMPORT_COLUMN_NUMBER && b->kind == IMPORT_COLUMN_NUMBER
           && a->offset == b->offset;
}

/* A vague column is not read, but kept as text, if another is clearly for the same figure. */
static void drop_vague(struct import_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < table->count && is_vague(&table->columns[i]); j++)
            if (are_alike(&table->columns[i], &table->columns[j]) && !is_vague(&table->columns[j]))
                table->columns[i].kind = IMPORT_COLUMN_UNKNOWN;
}

/* Of two columns for the same figure, the later is not read, but kept as text. */
static void drop_repeated(struct import_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < i; j++)
            if (are_alike(&table->columns[i], &table->columns[j]))
                table->columns[i].kind = IMPORT_COLUMN_UNKNOWN;
}

static void remark_assumed(struct import_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].kind != IMPORT_COLUMN_UNKNOWN && table->columns[i].assumed != NULL)
            evidence_remark(table->out, "the column name \"%s\" has no unit: read as %s",
                            table->headings[i], table->columns[i].assumed);
}

bool import_table_columns_done(struct import_table *table, struct error *error)
{
    for (const char *const *stated = table->stated; stated != NULL && *stated != NULL; stated++)
        if (find_heading(table, *stated) == NULL)
            return error_set(error, ERROR_INVALID,
                             "\"columns\" has \"%.80s\", but the file has no such column", *stated);
    drop_vague(table);
    if (!table->has_alternatives)
        drop_repeated(table);
    find_unit(table);
    remark_assumed(table);
    return true;
}

bool import_table_refuse_columns(const struct import_table *table, const char *what,
                                 struct error *error)
{
    TEXT_AUTO names = { 0 };

    for (size_t i = 0; i < table->count && i < 6; i++)
        text_addf(&names, "%s\"%.40s\"", i > 0 ? ", " : "", table->headings[i]);
    return error_set(
        error, ERROR_INVALID,
        "%s fewer than two known columns (the names are %s%s): give a heading such as "
        "concurrency,input_len,output_tok_per_s,mean_ttft_ms, or say in \"columns\" what they "
        "mean, as in \"%.40s=requests_per_s\"",
        what, text_string(&names), table->count > 6 ? ", ..." : "", table->headings[0]);
}
