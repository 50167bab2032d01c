/* SPDX-License-Identifier: Apache-2.0 */
/* A table that is being read, from CSV or from the rows of a JSON document: first its headings,
 * then its rows. Private to analysis/import/. */
#pragma once

#include "analysis/import/import_columns.h"
#include "base/formats/csv.h"

/* A heading that a tool writes, and our name for its meaning, or "" if the heading is known but is
 * not a figure. If the last heading is "*", headings that are not listed are not figures. Lists end
 * with a NULL heading. */
struct import_alias {
    const char *heading, *name;
};

struct import_table {
    struct csv csv; /* the row being read */
    struct evidence *out;
    const struct import_alias *aliases; /* the tool's; NULL: none */
    const char *const *stated; /* `columns` of struct import_file; they override the aliases */
    size_t count;              /* number of columns */
    struct import_column columns[CSV_FIELDS_MAX];
    char headings[CSV_FIELDS_MAX][HEADING_SIZE]; /* as in the file */
    bool fact_seen[CSV_FIELDS_MAX];    /* a row has had a value for the fact in this column */
    bool fact_differs[CSV_FIELDS_MAX]; /* a later row had a different value for that fact */
    /* Several columns may hold the same figure: in each row, the first number is read. */
    bool has_alternatives;
    size_t fields_kept;   /* number of fields in the rows read so far */
    size_t misfits;       /* rows and figures that did not fit */
    size_t misfit_fields; /* number of fields in the row with the last misfit */
    bool has_assumed;     /* a remark already says how figures such as "8k" were read */
    bool has_row_numbers; /* csv.line is the number of a row, not of a line */
    char word[64];        /* what the current row has in place of a figure: "OOM"; "": nothing */
};

/* ---- Columns ---- */

/* Checks that each text is "heading=name", with a name known here, or "heading=". INVALID: the
 * message quotes the first text that is neither. */
CHECKED bool import_table_check_stated(const char *const *stated, struct error *error);
/* Appends a column with this heading, and finds its meaning. */
void import_table_add_column(struct import_table *table, const char *heading);
/* Returns the number of known columns: those that are read as figures of a cell, and those that are
 * ignored, except those that only the alias "*" covers. Sets *results to the number of columns that
 * are read as a rate or a latency. */
size_t import_table_known(const struct import_table *table, size_t *results);
/* Call it when all columns have been added. It determines the unit of lengths, and adds a remark on
 * each column whose unit is assumed. Of several columns for the same figure it keeps only one,
 * unless has_alternatives is set. INVALID: a heading in `stated` is not in the table. */
CHECKED bool import_table_columns_done(struct import_table *table, struct error *error);
/* Sets the error for a file with fewer than two known columns: INVALID. `what` begins the message.
 */
CHECKED bool import_table_refuse_columns(const struct import_table *table, const char *what,
                                         struct error *error);

/* ---- Rows ---- */

/* Copies the current row's field in column i, without surrounding spaces and tabs. */
void import_table_copy(const struct import_table *table, size_t i, char *out, size_t size);
/* Adds a remark that `value` does not fit its column or, if `column` is NULL, that the row does not
 * fit the table. Only the first IMPORT_TABLE_REMARKS_MAX remarks are added. */
void import_table_remark_misfit(struct import_table *table, const char *column, const char *value);
#define IMPORT_TABLE_REMARKS_MAX 40
/* Adds a cell for the row in `csv`. INVALID: there are too many cells or fields. */
CHECKED bool import_table_add_row(struct import_table *table, struct error *error);
/* Settles what only all rows together can show: whether shares are percentages, what a throughput
 * without a unit counts, whether tokens are per request or in total, and which facts differ. Also
 * adds remarks on what was not read, and completes the cells. */
void import_table_resolve(struct import_table *table);
/* Whether a column of figures holds shares (of successes, failures or cached tokens), which may be
 * percentages. */
bool import_table_is_share(const struct import_column *column);

/* ---- Whole files ---- */

/* Finds the next line of a text, without its line ending; false: there is none. */
bool import_table_next_line(const char **at, const char *end, const char **line, size_t *length);
/* Read a CSV file, or a JSON file of rows, that has a tool's own headings. If a document is an
 * object whose members are rows or contain rows, the members' names go into the column `label`. */
CHECKED bool import_table_read_csv(const struct import_file *file,
                                   const struct import_alias *aliases, struct evidence *out,
                                   struct error *error);
CHECKED bool import_table_read_rows(const struct import_file *file,
                                    const struct import_alias *aliases, const char *label,
                                    struct evidence *out, struct error *error);
