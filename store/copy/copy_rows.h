/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a copy, and their rows in a binary format that is the same for every engine.
 * Private to store/copy/. */
#pragma once

#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "store/engine/sql.h"
#include "store/engine/sql_catalogue.h"
#include "store/engine/sql_engine.h"

/* ---- Tables ---- */

/* The two sets of tables. Each has its own schema version and, with SQLite, its own file. */
enum copy_set { COPY_MAIN, COPY_SCRAPES, COPY_SETS };

/* A table, and the statements that copy it. */
struct copy_table {
    enum copy_set set;
    const struct sql_table *schema; /* its name, columns and key */
    /* Selects the first page: at most ?1 rows, in the order of the key. */
    char *first;
    /* Selects the page after the row whose key columns are ?1, ?2, ... The parameter after these is
     * the maximum number of rows. */
    char *next;
    char *count;  /* counts the rows */
    char *insert; /* inserts a row whose columns are ?1, ?2, ... */
};

/* The tables of a copy, in the order of a backup: by set, then by name. */
struct copy_tables {
    struct sql_catalogue catalogues[COPY_SETS];
    struct copy_table *list;
    size_t count;
};

/* Lists the tables that these versions of the schema have. The versions must not be newer than
 * this program's. Free `out` with copy_tables_finish. */
CHECKED bool copy_tables_read(const int64_t versions[COPY_SETS], struct copy_tables *out,
                              struct error *error);
void copy_tables_finish(struct copy_tables *tables);

/* ---- Rows ---- */

#define COPY_COLUMNS_MAX 64

/* Appends a row. Each column begins with a byte for its type (0: NULL). The value follows: an
 * integer as a zigzag varint, a real as eight bytes (IEEE 754, big-endian), a text or blob as its
 * length (a varint) and its bytes. */
void copy_rows_add(const struct sql *sql, const struct sql_table *table, struct text *out);
/* Reads the row at *at, and moves *at past it. The values point into the bytes. INVALID: the
 * bytes are not a row of that table. */
CHECKED bool copy_rows_read(const struct sql_table *table, const uint8_t **at, const uint8_t *end,
                            struct sql_value values[COPY_COLUMNS_MAX], struct error *error);
void copy_rows_bind(struct sql *sql, int position, const struct sql_value *value);

/* The number of a table's rows, and their running digest. The digest begins as zeros; each row
 * replaces it with the SHA-256 of the digest so far followed by the row. */
struct copy_tally {
    int64_t rows;
    uint8_t digest[DIGEST_BYTES];
};
void copy_tally_add(struct copy_tally *tally, const void *row, size_t length);
bool copy_tally_equal(const struct copy_tally *a, const struct copy_tally *b);

/* ---- Sinks, which receive the rows of all tables in order ---- */

struct copy_sink {
    void *context;
    /* Receives the next rows of a table. `table`: its index in struct copy_tables. No row is
     * split. */
    CHECKED bool (*receive)(void *context, size_t table, const struct text *rows,
                            struct error *error);
    /* Called when the table has no more rows (by the caller of copy_table_read, not by
     * copy_table_read itself). */
    CHECKED bool (*finish)(void *context, size_t table, const struct copy_tally *tally,
                           struct error *error);
};

/* Reads a table in the order of its key and passes each page to sink->receive. A table that the
 * store has dropped counts as empty. `snapshot`: fails with BUSY if the connection's transaction
 * ends meanwhile. */
CHECKED bool copy_table_read(struct sql_connection *connection, bool snapshot,
                             const struct copy_tables *tables, size_t table,
                             const struct copy_sink *sink, struct copy_tally *tally,
                             struct error *error);
