/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy of a whole database needs of PostgreSQL. Only a superuser may suspend foreign keys,
 * so they are taken away, and kept as they were in the table opsbrain_references until they are
 * added again, which checks all rows. */

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
               || postgres_read_version(connection, postgres_set_name(migrations), out, error));
}

/* The transaction begins to see the database with its first read. It stands still while what was
 * read is written elsewhere, and compared. */
bool postgres_snapshot(struct sql_connection *reader, struct error *error)
{
    return postgres_run(postgres_of(reader),
                        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                        "SET LOCAL idle_in_transaction_session_timeout = 0; SELECT 1",
                        error);
}

bool postgres_copy_begin(struct sql_connection *writer, struct error *error)
{
    static const char script[] =
        "DO $$ DECLARE r record; BEGIN "
        "CREATE TABLE IF NOT EXISTS " REFERENCES
        " (of_table TEXT, name TEXT, definition TEXT, PRIMARY KEY (of_table, name)); "
        "FOR r IN SELECT t.relname, c.conname, pg_get_constraintdef(c.oid) AS definition "
        "FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid "
        "WHERE c.contype = 'f' AND t.relnamespace = current_schema()::regnamespace LOOP "
        "INSERT INTO " REFERENCES " VALUES (r.relname, r.conname, r.definition); "
        "EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', r.relname, r.conname); "
        "END LOOP; END $$";

    return postgres_run(postgres_of(writer), script, error);
}

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
