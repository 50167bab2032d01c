/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for copying an entire SQLite database. */
#include "store/engine/sql.h"
#include "store/engine/sqlite.h"

/* BEGIN does not take the transaction's snapshot; the first read does. */
bool sqlite_snapshot(struct sql_connection *reader, struct error *error)
{
    SQL_AUTO sql = sql_begin(reader, "SELECT count(*) FROM sqlite_schema");

    return sql_connection_run(reader, "BEGIN", error) && sql_run(&sql, error);
}

bool sqlite_copy_begin(struct sql_connection *writer, struct error *error)
{
    return sqlite_run(writer, "PRAGMA foreign_keys = OFF", error);
}

/* The ids of new rows need no attention: SQLite gives a new row the id after the highest one. */
bool sqlite_copy_end(struct sql_connection *writer, struct error *error)
{
    return sqlite_check_references(writer, error);
}
