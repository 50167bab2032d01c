/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of SQLite for copying an entire database. */
#include "store/engine/sql.h"
#include "store/engine/sqlite.h"

/* The first read takes the transaction's snapshot. */
bool sqlite_snapshot(struct sql_connection *reader, struct error *error)
{
    SQL_AUTO sql = sql_begin(reader, "SELECT count(*) FROM sqlite_schema");

    return sql_connection_run(reader, "BEGIN", error) && sql_run(&sql, error);
}

bool sqlite_copy_begin(struct sql_connection *writer, struct error *error)
{
    return sqlite_run(writer, "PRAGMA foreign_keys = OFF", error);
}

/* New ids need no care: SQLite gives a new row the id after the greatest one. */
bool sqlite_copy_end(struct sql_connection *writer, struct error *error)
{
    return sqlite_check_references(writer, error);
}
