/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tables: a heading, then a row per cell. */
#include <ctype.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_table.h"
#include "base/core/memory.h"

#define GROUPED_NEEDED 3  /* a line that names groups repeats at least this many names */
#define PREAMBLE_LINES 30 /* lines at the beginning that are searched for the heading */

bool import_table_next_line(const char **at, const char *end, const char **line, size_t *length)
{
    if (*at == end)
        return false;
    *line = *at;
    while (*at < end && **at != '\n' && **at != '\r')
        (*at)++;
    *length = (size_t)(*at - *line);
    if (end - *at >= 2 && (*at)[0] == '\r' && (*at)[1] == '\n')
        (*at)++;
    if (*at < end)
        (*at)++;
    return true;
}

static bool has_separator(const char *line, size_t length)
{
    return memchr(line, ',', length) != NULL || memchr(line, ';', length) != NULL
           || memchr(line, '\t', length) != NULL || memchr(line, '|', length) != NULL;
}

bool import_sniff_csv(const char *bytes, size_t length)
{
    const char *at = bytes, *line;
    size_t size;

    if (length == 0 || bytes[0] == '{' || bytes[0] == '[')
        return false;
    for (int i = 0; i < PREAMBLE_LINES && import_table_next_line(&at, bytes + length, &line, &size);
         i++)
        if (has_separator(line, size))
            return true;
    return false;
}

/* Reads the row as a heading; returns how many of its fields are known columns. */
static size_t find_columns(struct import_table *table)
{
    char heading[HEADING_SIZE];
    size_t results;

    table->count = 0;
    for (size_t i = 0; i < table->csv.count; i++) {
        import_table_copy(table, i, heading, sizeof heading);
        import_table_add_column(table, heading);
    }
    return import_table_known(table, &results);
}

/* Whether the line that the bytes begin with is the heading; if so, reads it. */
static bool is_heading_line(struct import_table *table, const char *bytes, size_t length,
                            int64_t line)
{
    struct error ignored;
    bool more;

    csv_init(&table->csv, bytes, length);
    table->csv.next_line = line;
    return csv_next(&table->csv, &more, &ignored) && more && find_columns(table) >= 2;
}

static CHECKED bool refuse_heading(struct import_table *table, const char *bytes, size_t length,
                                   struct error *error)
{
    bool more;

    csv_init(&table->csv, bytes, length);
    if (!csv_next(&table->csv, &more, error))
        return false;
    if (!more)
        return error_set(error, ERROR_INVALID,
                         "the CSV is empty: give a heading and at least one row below it");
    find_columns(table);
    return import_table_refuse_columns(table, "the first line of the CSV names", error);
}

/* Whether the first line names groups of columns, with the group's name above each of its columns.
 * The columns' own names are then on the lines below. GuideLLM writes such tables, and so does
 * pandas if columns have two levels. */
static bool is_grouped(struct import_table *table, const char *bytes, size_t length)
{
    char before[HEADING_SIZE] = "", name[HEADING_SIZE];
    struct error ignored;
    size_t repeated = 0;
    bool more;

    csv_init(&table->csv, bytes, length);
    if (!csv_next(&table->csv, &more, &ignored) || !more)
        return false;
    for (size_t i = 0; i < table->csv.count; i++) {
        import_table_copy(table, i, name, sizeof name);
        repeated += name[0] != '\0' && strcmp(name, before) == 0;
        text_copy(before, sizeof before, name);
    }
    return repeated >= GROUPED_NEEDED && 2 * repeated >= table->csv.count;
}

/* The heading is the first line with two or more known columns. Lines before it, such as a title or
 * comments, are skipped. */
static CHECKED bool read_heading(struct import_table *table, const char *bytes, size_t length,
                                 struct error *error)
{
    const char *at = bytes, *end = bytes + length, *line;
    size_t size;

    if (is_grouped(table, bytes, length))
        return error_set(
            error, ERROR_INVALID,
            "the heading has several lines, the first of which names groups of columns: give one "
            "line of names, or import the tool's JSON (GuideLLM, for example, also writes JSON)");
    for (int i = 0; i < PREAMBLE_LINES && import_table_next_line(&at, end, &line, &size); i++)
        if (size > 0 && is_heading_line(table, line, (size_t)(end - line), i + 1))
            return import_table_columns_done(table, error);
    return refuse_heading(table, bytes, length, error);
}

/* ---- Rows ---- */

static bool repeats_heading(const struct import_table *table)
{
    char text[HEADING_SIZE];

    if (table->csv.count != table->count)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        import_table_copy(table, i, text, sizeof text);
        if (strcmp(text, table->headings[i]) != 0)
            return false;
    }
    return true;
}

/* Whether the line is empty, a comment, or a line of dashes, as under the heading of a Markdown
 * table: the fields of such a line contain only '-', '=' and ':'. */
static bool is_not_a_row(const struct import_table *table)
{
    char text[HEADING_SIZE];

    import_table_copy(table, 0, text, sizeof text);
    if (text[0] == '#')
        return true;
    for (size_t i = 0; i < table->csv.count; i++) {
        import_table_copy(table, i, text, sizeof text);
        if (strspn(text, "-=:") != strlen(text))
            return false;
    }
    return true;
}

/* Whether the row begins with "Average", "TOTAL" or the like: programs and spreadsheets write such
 * rows below the data. `out` receives the row's first field. */
static bool is_summary(const struct import_table *table, char *out, size_t size)
{
    static const char *const words[] = { "total",   "totals", "sum",     "average",   "avg",
                                         "mean",    "median", "overall", "aggregate", "geomean",
                                         "summary", "stddev", "std" };

    import_table_copy(table, 0, out, size);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncasecmp(out, words[i], strlen(words[i])) == 0
            && isalnum((unsigned char)out[strlen(words[i])]) == 0)
            return true;
    return false;
}

/* Whether the row has as many fields as the heading. Additional fields are accepted if empty. */
static bool fits_heading(const struct import_table *table)
{
    if (table->csv.count < table->count)
        return false;
    for (size_t i = table->count; i < table->csv.count; i++)
        if (table->csv.fields[i].length > 0)
            return false;
    return true;
}

/* Whether to skip the line. If so, adds a remark, unless the line is empty, a comment or a line of
 * dashes. A line that does not fit the heading gets no remark if IMPORT_TABLE_REMARKS_MAX lines and
 * figures that do not fit have already been found. */
static bool is_skipped(struct import_table *table)
{
    char text[HEADING_SIZE];
    long long line = (long long)table->csv.line;

    if (is_not_a_row(table))
        return true;
    if (repeats_heading(table)) {
        evidence_remark(table->out,
                        "line %lld repeats the heading: another run was appended to the file",
                        line);
        return true;
    }
    if (is_summary(table, text, sizeof text)) {
        evidence_remark(table->out, "line %lld is a summary of other lines (\"%.40s\"): skipped",
                        line, text);
        return true;
    }
    if (!fits_heading(table)) {
        import_table_remark_misfit(table, NULL, NULL);
        return true;
    }
    return false;
}

static CHECKED bool refuse_no_rows(const struct import_table *table, struct error *error)
{
    if (table->misfits == 0)
        return error_set(error, ERROR_INVALID, "the CSV has a heading but no rows below it");
    return error_set(error, ERROR_INVALID,
                     "no row of the CSV fits its heading of %zu fields: the last row has %zu",
                     table->count, table->misfit_fields);
}

static CHECKED bool read_rows(struct import_table *table, struct error *error)
{
    bool more = true;

    while (csv_next(&table->csv, &more, error) && more)
        if (!is_skipped(table) && !import_table_add_row(table, error))
            return false;
    if (more)
        return false;
    if (table->out->cell_count == 0)
        return refuse_no_rows(table, error);
    import_table_resolve(table);
    return true;
}

bool import_table_read_csv(const struct import_file *file, const struct import_alias *aliases,
                           struct evidence *out, struct error *error)
{
    FREE_AUTO struct import_table *table = memory_zeroed(1, sizeof *table);

    table->out = out;
    table->aliases = aliases;
    table->stated = file->columns;
    return import_table_check_stated(table->stated, error)
           && read_heading(table, file->bytes, file->length, error) && read_rows(table, error);
}

bool import_read_csv(const struct import_file *file, struct evidence *out, struct error *error)
{
    return import_table_read_csv(file, NULL, out, error);
}
