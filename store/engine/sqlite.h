/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite engine: a database is a file with its write-ahead log. */
#pragma once

#include "store/engine/sql_engine.h"

extern const struct sql_engine sqlite_engine;

/* ---- For sqlite*.c, and for tests ---- */

struct sqlite3 *sqlite_handle(struct sql_connection *connection);
/* Runs a script, and ignores the rows that its statements return. */
CHECKED bool sqlite_run(struct sql_connection *connection, const char *script, struct error *error);
/* INTERNAL: a row refers to a row that does not exist. */
CHECKED bool sqlite_check_references(struct sql_connection *connection, struct error *error);

/* ---- For struct sql_engine ---- */

CHECKED bool sqlite_prepare_schema(struct sql_connection *writer,
                                   const struct migration_set *migrations, struct error *error);
CHECKED bool sqlite_version(struct sql_connection *connection,
                            const struct migration_set *migrations, int64_t *out,
                            struct error *error);
CHECKED bool sqlite_snapshot(struct sql_connection *reader, struct error *error);
CHECKED bool sqlite_copy_begin(struct sql_connection *writer, struct error *error);
CHECKED bool sqlite_copy_end(struct sql_connection *writer, struct error *error);
