/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for copying an entire PostgreSQL database. Only a superuser can suspend foreign keys.
 * So postgres_copy_begin drops them and keeps their definitions in the table opsbrain_references;
 * postgres_copy_end adds them again, which checks all rows. */
#include "base/core/text.h"
#include "store/engine/postgres_private.h"
#include "store/engine/sql.h"

#define REFERENCES "opsbrain_references"

bool postgres_version(struct sql_connection *connection, const struct migration_set *migrations,
                      int64_t *out, struct error *error)
{
    bool found;

    *out = 0;
    return sql_connection_has_table(connection, "opsbrain_schema", &found, error)
           && (!found
               || postgres_read_version(connection, postgres_migrations_name(migrations), out,
                                        error));
}

/* Ends with a SELECT because the first read, not BEGIN, takes the transaction's snapshot. Turns off
 * the timeout for idle transactions: between two reads, the rows are written elsewhere and
 * compared, which can take a long time. */
bool postgres_snapshot(struct sql_connection *reader, struct error *error)
{
    return sql_connection_run(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", error)
           && postgres_run(postgres_of(reader),
                           "SET LOCAL idle_in_transaction_session_timeout = 0; SELECT 1", error);
}

bool postgres_copy_begin(struct sql_connection *writer, struct error *error)
{
    static const char script[] =
        "DO $$ DECLARE r record; BEGIN "
        "CREATE TABLE IF NOT EXISTS " REFERENCES
        " (of_table TEXT, name TEXT, definition TEXT, PRIMARY KEY (of_table, name)); "
        "FOR r IN SELECT t.relname, c.conname, pg_get_constraintdef(c.oid) AS definition "
        "FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid "
        "JOIN pg_namespace n ON n.oid = t.relnamespace "
        "WHERE c.contype = 'f' AND n.nspname = current_schema() LOOP "
        "INSERT INTO " REFERENCES " VALUES (r.relname, r.conname, r.definition); "
        "EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', r.relname, r.conname); "
        "END LOOP; END $$";

    return postgres_run(postgres_of(writer), script, error);
}

/* ---- Rows, in the binary format of COPY (postgresql.org/docs/current/sql-copy.html) ---- */

static void add_number(struct text *out, uint32_t number, size_t bytes)
{
    while (bytes-- > 0)
        text_add_char(out, (char)(number >> (8 * bytes)));
}

static void add_value(struct text *out, const struct sql_value *value)
{
    struct postgres_parameter parameter = { .value = *value, .has_value = value->type != 0 };
    const char *bytes;
    int length;

    postgres_encode(&parameter, &bytes, &length);
    add_number(out, bytes == NULL ? UINT32_MAX : (uint32_t)length, 4);
    if (bytes != NULL)
        text_add_bytes(out, bytes, (size_t)length);
}

static void write_rows(const struct sql_value *values, size_t columns, size_t rows,
                       struct text *out)
{
    /* The signature, no flags and no extension. The NUL that terminates the literal is the head's
     * last byte. */
    static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";

    text_add_bytes(out, head, sizeof head);
    for (size_t i = 0; i < rows * columns; i++) {
        if (i % columns == 0)
            add_number(out, (uint32_t)columns, 2);
        add_value(out, &values[i]);
    }
    add_number(out, UINT16_MAX, 2); /* the trailer */
}

static bool begin_rows(struct postgres_connection *connection, const struct sql_table *table)
{
    TEXT_AUTO script = { 0 };
    PGresult *result;
    bool ok;

    text_addf(&script, "COPY \"%s\" (", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        text_addf(&script, "%s\"%s\"", i == 0 ? "" : ", ", table->columns[i].name);
    text_add(&script, ") FROM STDIN (FORMAT binary)");
    result = PQexec(connection->link, text_string(&script));
    ok = PQresultStatus(result) == PGRES_COPY_IN || postgres_note_failure(connection, result);
    PQclear(result);
    return ok;
}

static bool send_rows(struct postgres_connection *connection, const struct text *rows)
{
    bool ok = (PQputCopyData(connection->link, rows->data, (int)rows->length) == 1
               && PQputCopyEnd(connection->link, NULL) == 1)
              || postgres_note_failure(connection, NULL);
    PGresult *result;

    while ((result = PQgetResult(connection->link)) != NULL) {
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            ok = postgres_note_failure(connection, result);
        PQclear(result);
    }
    return ok;
}

bool postgres_copy_rows(struct sql_connection *writer, const struct sql_table *table,
                        const struct sql_value *values, size_t rows, struct error *error)
{
    TEXT_AUTO bytes = { 0 };

    write_rows(values, table->column_count, rows, &bytes);
    return (begin_rows(postgres_of(writer), table) && send_rows(postgres_of(writer), &bytes))
           || postgres_explain(writer, error);
}

/* ---- The end of a copy ---- */

bool postgres_copy_end(struct sql_connection *writer, struct error *error)
{
    static const char references[] =
        "DO $$ DECLARE r record; BEGIN "
        "IF to_regclass('" REFERENCES "') IS NULL THEN RETURN; END IF; "
        "FOR r IN SELECT * FROM " REFERENCES " LOOP "
        "EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I ', r.of_table, r.name) || r.definition; "
        "END LOOP; DROP TABLE " REFERENCES "; END $$";
    static const char sequences[] =
        "DO $$ DECLARE r record; BEGIN "
        "FOR r IN SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_schema = current_schema() AND is_identity = 'YES' LOOP "
        "EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, %L), "
        "coalesce((SELECT max(%I) FROM %I), 0) + 1, false)', "
        "quote_ident(r.table_name), r.column_name, r.column_name, r.table_name); "
        "END LOOP; END $$";

    return postgres_run(postgres_of(writer), POSTGRES_NO_LIMIT, error)
           && postgres_run(postgres_of(writer), references, error)
           && postgres_run(postgres_of(writer), sequences, error);
}
