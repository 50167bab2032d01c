/* SPDX-License-Identifier: Apache-2.0 */
/* A table while it is read: headings, then rows, from CSV or from the rows of a JSON document.
 * Private to analysis/import*.c. */
#pragma once

#include "analysis/import/import_columns.h"
#include "base/formats/csv.h"

/* A heading of one tool, and the name of the same meaning here; "": known, but not a figure. A last
 * "*": all other headings are likewise no figures. Lists end with a NULL heading. */
struct import_alias {
    const char *heading, *name;
};

struct import_table {
    struct csv csv; /* the row being read */
    struct evidence *out;
    const struct import_alias *aliases; /* for the tool; NULL: none */
    const char *const *stated;          /* "heading=name" each, which takes precedence; NULL: none
                                         */
    size_t count;
    struct import_column columns[CSV_FIELDS_MAX];
    char headings[CSV_FIELDS_MAX][HEADING_SIZE]; /* as in the file */
    bool fact_stated[CSV_FIELDS_MAX], fact_differs[CSV_FIELDS_MAX];
    bool has_alternatives; /* a row may have one of several columns of one meaning: the first that
                            * it has is read */
    size_t fields_kept, odd_rows, odd_count; /* odd_count: fields of the last odd row */
    bool has_assumed;
    char word[64]; /* of the row being read: "OOM" where a figure should be */
};

/* ---- Columns ---- */

/* Whether every stated column is a known one; INVALID names the one that is not. */
CHECKED bool import_table_check_stated(const char *const *stated, struct error *error);
/* The meaning of the heading, which is stored as the last column's. */
void import_table_add_column(struct import_table *table, const char *heading);
/* Number of known columns, and of those that are a result (a rate, a latency). */
size_t import_table_known(const struct import_table *table, size_t *results);
/* Call after all columns were added: determines the unit of lengths, resolves columns of one
 * meaning, and adds remarks on unknown columns. INVALID: a stated column is not in the table. */
CHECKED bool import_table_columns_done(struct import_table *table, struct error *error);
/* The error for a file without known columns: INVALID. */
CHECKED bool import_table_refuse_columns(const struct import_table *table, const char *what,
                                         struct error *error);

/* ---- Rows ---- */

/* A field without the spaces around it. */
void import_table_copy(const struct import_table *table, size_t i, char *out, size_t size);
/* Adds a remark that the row (column NULL), or one of its figures, does not fit; bounded. */
void import_table_odd_row(struct import_table *table, const char *column, const char *value);
#define IMPORT_TABLE_REMARKS_MAX 40
/* Adds the cell of the row in `csv`; INVALID: there are too many. */
CHECKED bool import_table_add_row(struct import_table *table, struct error *error);
/* Resolves what only all rows together show: shares in percent, a throughput without a unit, tokens
 * per request or in total, facts that differ. */
void import_table_resolve(struct import_table *table);
/* A share of successes or of cached tokens, which may be written as a percentage. */
bool import_table_is_share(const struct import_column *column);

/* ---- Whole files ---- */

/* The next line of a text, without its line ending; false: there is none. */
bool import_table_next_line(const char **at, const char *end, const char **line, size_t *length);
/* Reads a file of CSV, or of rows in JSON, with a tool's own headings; `label`: what the members of
 * a document are, if it is an object of rows or of objects that have rows. */
CHECKED bool import_table_read_csv(const struct import_file *file,
                                   const struct import_alias *aliases, struct evidence *out,
                                   struct error *error);
CHECKED bool import_table_read_rows(const struct import_file *file,
                                    const struct import_alias *aliases, const char *label,
                                    struct evidence *out, struct error *error);
