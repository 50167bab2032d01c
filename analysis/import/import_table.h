/* SPDX-License-Identifier: Apache-2.0 */
/* A table as it is read: headings, then rows, from CSV or from the rows of a JSON document. Private
 * to analysis/import*.c. */
#pragma once

#include "analysis/import/import_columns.h"
#include "base/formats/csv.h"

/* A heading of one tool, and the name that has its meaning here; "": known, and no figure of ours.
 * "*", last: so are all others. Lists end with a NULL heading. */
struct import_alias {
    const char *heading, *name;
};

struct import_table {
    struct csv csv; /* the row being read */
    struct evidence *out;
    const struct import_alias *aliases; /* of the tool; NULL: none */
    const char *const *stated;          /* "heading=name" each, which comes first; NULL: none */
    size_t count;
    struct import_column columns[CSV_FIELDS_MAX];
    char headings[CSV_FIELDS_MAX][HEADING_SIZE]; /* as they stand in the file */
    bool fact_told[CSV_FIELDS_MAX], fact_differs[CSV_FIELDS_MAX];
    bool fills; /* a row may have one of several columns of one meaning: the first that it has
                   counts */
    size_t fields_kept, odd_rows, odd_count; /* odd_count: fields of the last odd row */
    bool has_assumed;
    char word[64]; /* of the row being read: "OOM" where a figure should be */
};

/* ---- Columns ---- */

/* Does every stated column name a column that is known here? INVALID says which not. */
CHECKED bool import_table_check_stated(const char *const *stated, struct error *error);
/* What the heading means, which is kept as the last column's. */
void import_table_add_column(struct import_table *table, const char *heading);
/* Columns that are known here, and those of them that are a result (a rate, a latency). */
size_t import_table_known(const struct import_table *table, size_t *results);
/* Once all columns are there: the unit of lengths, columns of one meaning, and remarks on what is
 * not known. INVALID: a stated column is none of the table. */
CHECKED bool import_table_columns_done(struct import_table *table, struct error *error);
/* The sentence that refuses a file none of whose columns is known: INVALID. */
CHECKED bool import_table_refuse_columns(const struct import_table *table, const char *what,
                                         struct error *error);

/* ---- Rows ---- */

/* A field without the spaces around it. */
void import_table_copy(const struct import_table *table, size_t i, char *out, size_t size);
/* Remarks that the row (column NULL), or a figure of it, does not fit; bounded. */
void import_table_odd_row(struct import_table *table, const char *column, const char *value);
#define IMPORT_TABLE_REMARKS_MAX 40
/* A cell of the row that stands in `csv`; INVALID: there are too many. */
CHECKED bool import_table_add_row(struct import_table *table, struct error *error);
/* What only all rows together tell: shares in percent, a throughput without a unit, tokens of each
 * request or of all, facts that differ. */
void import_table_settle(struct import_table *table);
/* Of successes, or of tokens from a cache: may be written as percent. */
bool import_table_is_share(const struct import_column *column);

/* ---- Whole files ---- */

/* The next line of a text, without what ends it; false: there is none. */
bool import_table_next_line(const char **at, const char *end, const char **line, size_t *length);
/* A file of CSV, or of rows in JSON, in a tool's own headings; `label`: what the members of a
 * document are, where it is an object of rows or of objects that have rows. */
CHECKED bool import_table_read_csv(const struct import_file *file,
                                   const struct import_alias *aliases, struct evidence *out,
                                   struct error *error);
CHECKED bool import_table_read_rows(const struct import_file *file,
                                    const struct import_alias *aliases, const char *label,
                                    struct evidence *out, struct error *error);
