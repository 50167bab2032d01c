/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of any table as bytes, the same for every engine, and the tables of a copy. Private to
 * store/copy/. */
#pragma once

#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "store/engine/sql.h"
#include "store/engine/sql_catalogue.h"
#include "store/engine/sql_engine.h"

/* ---- Tables ---- */

/* The two sets of tables, each with a version of its own; with SQLite, each is a file. */
enum copy_set { COPY_MAIN, COPY_SCRAPES, COPY_SETS };

/* A table, and the statements that copy it. */
struct copy_table {
    enum copy_set set;
    const struct sql_table *schema; /* its name, columns and key */
    /* Select a page in order of the key: `first` from the first row on, `next` from after the row
     * whose key columns are ?1, ?2, ... The last parameter is how many rows the page has at
     * most. */
    char *first, *next;
    char *count, *insert;
};

/* The tables of a copy, in the order of a backup: by set, then by name. */
struct copy_tables {
    struct sql_catalogue catalogues[COPY_SETS];
    struct copy_table *list;
    size_t count;
};

/* Reads the tables of these versions of the schema, which must not be newer than this program. Free
 * with copy_tables_finish. */
CHECKED bool copy_tables_read(const int64_t versions[COPY_SETS], struct copy_tables *out,
                              struct error *error);
void copy_tables_finish(struct copy_tables *tables);

/* ---- Rows ---- */

#define COPY_COLUMNS_MAX 64

/* Appends a row. Each column is a byte with its type, 0 for NULL, then an integer as zigzag varint,
 * a real as eight bytes of IEEE 754, the highest first, or a text or blob after its length as
 * varint. */
void copy_rows_add(const struct sql *sql, const struct sql_table *table, struct text *out);
/* Reads the row at *at, and moves *at after it. The values point into the bytes. INVALID: the
 * bytes are not a row of that table. */
CHECKED bool copy_rows_read(const struct sql_table *table, const uint8_t **at, const uint8_t *end,
                            struct sql_value values[COPY_COLUMNS_MAX], struct error *error);
void copy_rows_bind(struct sql *sql, int position, const struct sql_value *value);

/* The number of a table's rows, and their running digest: with each row, the digest of the previous
 * digest and the row. */
struct copy_tally {
    int64_t rows;
    uint8_t digest[DIGEST_BYTES];
};
void copy_tally_add(struct copy_tally *tally, const void *row, size_t length);
bool copy_tally_equal(const struct copy_tally *a, const struct copy_tally *b);

/* ---- Sinks, which receive the rows of all tables in order ---- */

struct copy_sink {
    void *context;
    /* Receives the next rows of a table, each of them complete. */
    CHECKED bool (*receive)(void *context, size_t table, const struct text *rows,
                            struct error *error);
    /* The table has no more rows. copy_table_read leaves this call to its caller. */
    CHECKED bool (*finish)(void *context, size_t table, const struct copy_tally *tally,
                           struct error *error);
};

/* Reads a table in order of its key, a page at a time, and calls sink->receive. A table that the
 * store has dropped counts as empty. `snapshot`: BUSY if the connection's transaction ends
 * meanwhile. */
CHECKED bool copy_table_read(struct sql_connection *connection, bool snapshot,
                             const struct copy_tables *tables, size_t table,
                             const struct copy_sink *sink, struct copy_tally *tally,
                             struct error *error);
