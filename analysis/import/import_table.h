/* SPDX-License-Identifier: Apache-2.0 */
/* A table while it is read: headings, then rows, from CSV or from the rows of a JSON document.
 * Private to analysis/import/. */
#pragma once

#include "analysis/import/import_columns.h"
#include "base/formats/csv.h"

/* A tool's heading, and our name for its meaning; "": known, but not a figure. A heading "*" at the
 * end: no other heading is a figure. Lists end with a NULL heading. */
struct import_alias {
    const char *heading, *name;
};

struct import_table {
    struct csv csv; /* the row being read */
    struct evidence *out;
    const struct import_alias *aliases; /* the tool's; NULL: none */
    const char *const *stated;          /* as in struct import_file; they take precedence */
    size_t count;                       /* of columns */
    struct import_column columns[CSV_FIELDS_MAX];
    char headings[CSV_FIELDS_MAX][HEADING_SIZE]; /* as in the file */
    bool fact_seen[CSV_FIELDS_MAX];              /* a row had a field in this column of facts */
    bool fact_differs[CSV_FIELDS_MAX];           /* a later row had a different one */
    /* Several columns may hold one figure: the first in which a row has a number is read. */
    bool has_alternatives;
    size_t fields_kept;
    size_t misfits;       /* rows and figures that did not fit */
    size_t misfit_fields; /* number of fields in the row with the last of them */
    bool has_assumed;     /* a remark says that figures such as "8k" were read by an assumption */
    bool has_row_numbers; /* csv.line is the number of a row, not of a line */
    char word[64];        /* what the row being read has in place of a figure: "OOM" */
};

/* ---- Columns ---- */

/* Whether each of the texts is "heading=name" with a name known here, or "heading="; INVALID: the
 * message shows the first that is neither. */
CHECKED bool import_table_check_stated(const char *const *stated, struct error *error);
/* Appends a column with this heading, and finds its meaning. */
void import_table_add_column(struct import_table *table, const char *heading);
/* Returns the number of known columns: those read as figures of a cell, and those that are ignored,
 * except by the alias "*". *results: how many of them are read as a rate or a latency. */
size_t import_table_known(const struct import_table *table, size_t *results);
/* Call after all columns were added: determines the unit of lengths, keeps one of several
 * columns for the same figure, unless they are alternatives, and adds a remark on each column whose
 * unit is assumed. INVALID: a stated column is not in the table. */
CHECKED bool import_table_columns_done(struct import_table *table, struct error *error);
/* Sets the error for a file with fewer than two known columns: INVALID. `what` begins the message.
 */
CHECKED bool import_table_refuse_columns(const struct import_table *table, const char *what,
                                         struct error *error);

/* ---- Rows ---- */

/* Copies the field of column i, without the spaces around it. */
void import_table_copy(const struct import_table *table, size_t i, char *out, size_t size);
/* Adds a remark that the row (column NULL), or the figure in one column, does not fit; only the
 * first IMPORT_TABLE_REMARKS_MAX are added. */
void import_table_remark_misfit(struct import_table *table, const char *column, const char *value);
#define IMPORT_TABLE_REMARKS_MAX 40
/* Adds the cell of the row in `csv`; INVALID: there are too many cells or fields. */
CHECKED bool import_table_add_row(struct import_table *table, struct error *error);
/* Resolves what only all rows together show (shares in percent, a throughput without a unit, tokens
 * per request or in total, facts that differ), adds remarks on what was not read, and completes the
 * cells. */
void import_table_resolve(struct import_table *table);
/* Whether the column, one of figures, is a share (of successes, failures or cached tokens), which
 * may be a percentage. */
bool import_table_is_share(const struct import_column *column);

/* ---- Whole files ---- */

/* Finds the next line of a text, without its line ending; false: there is none. */
bool import_table_next_line(const char **at, const char *end, const char **line, size_t *length);
/* Read a file of CSV, or of rows in JSON, with a tool's own headings. `label`: the column for the
 * members' names, if a document is an object whose members are rows or have rows. */
CHECKED bool import_table_read_csv(const struct import_file *file,
                                   const struct import_alias *aliases, struct evidence *out,
                                   struct error *error);
CHECKED bool import_table_read_rows(const struct import_file *file,
                                    const struct import_alias *aliases, const char *label,
                                    struct evidence *out, struct error *error);
