/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/postgres.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/text.h"
#include "store/engine/postgres_private.h"
#include "store/engine/sql.h"

struct postgres_connection *postgres_of(struct sql_connection *connection)
{
    return (struct postgres_connection *)connection;
}

/* Finds the last SQLSTATE in a verbose message from libpq, such as "FATAL:  53300: too many ...";
 * `out` is "" if there is none. */
static void read_state(const char *message, char out[POSTGRES_STATE_SIZE])
{
    static const char before[] = ":  ", allowed[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    out[0] = '\0';
    while ((message = strstr(message, before)) != NULL) {
        message += strlen(before);
        if (strspn(message, allowed) == POSTGRES_STATE_SIZE - 1)
            text_copy(out, POSTGRES_STATE_SIZE, message);
    }
}

bool postgres_note_failure(struct postgres_connection *connection, const PGresult *result)
{
    const char *state = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary =
        result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (connection->link == NULL)
        return false; /* `message` already says why */
    if (state != NULL)
        text_copy(connection->state, sizeof connection->state, state);
    else
        read_state(PQerrorMessage(connection->link), connection->state);
    text_copy(connection->message, sizeof connection->message,
              primary == NULL ? PQerrorMessage(connection->link) : primary);
    connection->message[strcspn(connection->message, "\n")] = '\0';
    connection->is_full |= strcmp(connection->state, POSTGRES_DISK_FULL) == 0;
    return false;
}

bool postgres_run(struct postgres_connection *connection, const char *script, struct error *error)
{
    PGresult *result = PQexec(connection->link, script);
    ExecStatusType status = PQresultStatus(result);
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
              || postgres_note_failure(connection, result);

    PQclear(result);
    return ok || postgres_explain(&connection->base, error);
}

static bool in_transaction(struct sql_connection *connection)
{
    PGTransactionStatusType status = PQtransactionStatus(postgres_of(connection)->link);

    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

static CHECKED bool has_table(struct sql_connection *connection, const char *name, bool *found,
                              struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT 1 FROM pg_tables "
                                         "WHERE schemaname = current_schema() AND tablename = ?1");

    sql_bind_text(&sql, 1, name);
    return sql_find(&sql, found, error);
}

/* Returns true after a lost session, a restart of the server, a conflict with another transaction,
 * or too long a pause within a transaction. */
bool postgres_may_repeat(struct sql_connection *connection)
{
    static const char *const states[] = { "57P", "08", "40", "25P03" };
    const char *state = postgres_of(connection)->state;

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i], strlen(states[i])) == 0)
            return true;
    return state[0] == '\0';
}

static int64_t changes(struct sql_connection *connection)
{
    return postgres_of(connection)->changes;
}

/* ---- Upkeep, most of which PostgreSQL does itself ---- */

static void upkeep(struct sql_connection *writer, enum sql_upkeep when)
{
    if (when == SQL_UPKEEP_END)
        postgres_holder_leave(postgres_of(writer));
}

static CHECKED bool shrink(struct sql_connection *writer, bool *more, struct error *error)
{
    (void)writer;
    (void)error;
    *more = false;
    return true;
}

static int64_t size_bytes(struct sql_connection *reader)
{
    SQL_AUTO sql = sql_begin(reader, "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) "
                                     "AS BIGINT) FROM pg_class c JOIN pg_namespace n "
                                     "ON n.oid = c.relnamespace WHERE c.relkind = 'r' "
                                     "AND n.nspname = current_schema()");
    struct error problem;

    if (sql_step(&sql, &problem) == SQL_ROW)
        return sql_integer(&sql, 0);
    log_warning("the size of the database is not known: %s", problem.message);
    return 0;
}

const struct sql_engine postgres_engine = {
    .name = "PostgreSQL",
    .main = &migrations_postgres_main,
    .scrapes = &migrations_postgres_scrapes,
    .open = postgres_open,
    .close = postgres_close,
    .prepare_schema = postgres_prepare_schema,
    .prepare = postgres_prepare,
    .finish = postgres_finish,
    .bind = postgres_bind,
    .step = postgres_step,
    .reset = postgres_reset,
    .is_null = postgres_is_null,
    .integer = postgres_integer,
    .real = postgres_real,
    .text = postgres_text,
    .blob = postgres_blob,
    .begin = postgres_begin,
    .commit = postgres_commit,
    .may_repeat = postgres_may_repeat,
    .keep = postgres_keep,
    .has_table = has_table,
    .changes = changes,
    .in_transaction = in_transaction,
    .explain = postgres_explain,
    .upkeep = upkeep,
    .shrink = shrink,
    .size_bytes = size_bytes,
    .version = postgres_version,
    .snapshot = postgres_snapshot,
    .copy_begin = postgres_copy_begin,
    .copy_rows = postgres_copy_rows,
    .copy_end = postgres_copy_end,
};
