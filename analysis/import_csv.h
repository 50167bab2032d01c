/* A table as it is read. Private to analysis/import_csv*.c. */
#pragma once

#include "analysis/import_columns.h"
#include "base/csv.h"

struct table {
    struct csv csv;
    struct evidence *out;
    size_t count;
    struct import_column columns[CSV_FIELDS_MAX];
    char headings[CSV_FIELDS_MAX][HEADING_SIZE]; /* as they stand in the file */
    bool fact_differs[CSV_FIELDS_MAX];
    size_t fields_kept, odd_rows, odd_count; /* odd_count: fields of the last odd row */
    bool has_assumed;
    char word[64]; /* of the row being read: "OOM" where a figure should be */
};

/* A field without the spaces around it. */
void table_copy(const struct table *table, size_t i, char *out, size_t size);
/* Remarks that the row (column NULL), or a figure of it, does not fit; bounded. */
void table_odd_row(struct table *table, const char *column, const char *value);
#define TABLE_REMARKS_MAX 40
/* All fields of the row into the cell. */
void table_read_fields(struct table *table, struct evidence_cell *cell);
/* What only all rows together tell: shares in percent, a throughput without a unit, tokens of each
 * request or of all, facts that differ. */
void table_settle(struct table *table);
/* Of successes, or of tokens from a cache: may be written as percent. */
bool table_is_share(const struct import_column *column);
