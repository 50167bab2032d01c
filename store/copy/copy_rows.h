/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of any table as bytes, the same for every engine, and the tables that a copy has. Private to
 * store/copy/. */
#pragma once

#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "store/engine/sql.h"
#include "store/engine/sql_catalogue.h"
#include "store/engine/sql_engine.h"

/* ---- Tables ---- */

enum copy_set { COPY_MAIN, COPY_SCRAPES, COPY_SETS };

/* A table, and the statements that copy it. */
struct copy_table {
    enum copy_set set;
    const struct sql_table *columns;
    /* Of a page in order of the key: from the first row, or after that with the key ?1 ...; the
     * last parameter is the number of rows. */
    char *first, *next;
    char *count, *insert;
};

/* The order of a backup, too: by set, then by name. */
struct copy_tables {
    struct sql_catalogue catalogues[COPY_SETS];
    struct copy_table *rows;
    size_t count;
};

/* Of these versions of the schema, which must not be newer than this program. */
CHECKED bool copy_tables_read(const int64_t versions[COPY_SETS], struct copy_tables *out,
                              struct error *error);
void copy_tables_finish(struct copy_tables *tables);

/* ---- Rows ---- */

#define COPY_COLUMNS_MAX 64

/* A column: the byte of its type, 0 for NULL; an integer as zigzag varint, a real as the eight
 * bytes of IEEE 754, high ones first, a text or blob with its length as varint before it. */
void copy_rows_add(const struct sql *sql, const struct sql_table *table, struct text *out);
/* Reads the row at *at, and moves it on. The values point into the bytes. INVALID: they are not a
 * row of that table. */
CHECKED bool copy_rows_read(const struct sql_table *table, const uint8_t **at, const uint8_t *end,
                            struct sql_value values[COPY_COLUMNS_MAX], struct error *error);
void copy_rows_bind(struct sql *sql, int position, const struct sql_value *value);

/* Of the rows of a table, one after the other: the digest of the digest before and the row. */
struct copy_tally {
    int64_t rows;
    uint8_t digest[DIGEST_BYTES];
};
void copy_tally_add(struct copy_tally *tally, const void *row, size_t length);
bool copy_tally_equal(const struct copy_tally *a, const struct copy_tally *b);

/* ---- What takes the rows of all tables, in their order ---- */

struct copy_sink {
    void *context;
    /* Some rows of a table: whole ones. */
    CHECKED bool (*take)(void *context, size_t table, const struct text *rows, struct error *error);
    /* There are no more of that table. Called for each table. */
    CHECKED bool (*finish)(void *context, size_t table, const struct copy_tally *tally,
                           struct error *error);
};

/* Reads a table in order of its key, a page at a time, and calls sink->take. One that is not there,
 * since the store has dropped it, has no rows. `snapshot`: in a transaction that must not end
 * meanwhile. */
CHECKED bool copy_table_read(struct sql_connection *connection, bool snapshot,
                             const struct copy_tables *tables, size_t table,
                             const struct copy_sink *sink, struct copy_tally *tally,
                             struct error *error);
