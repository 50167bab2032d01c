/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a PostgreSQL database. The table opsbrain_schema has a version for each set of
 * migrations: how many of them were applied. */
#include "base/core/text.h"
#include "store/engine/postgres_private.h"
#include "store/engine/sql.h"

/* The key of the advisory lock under which opsbrain_schema and opsbrain_holder are created: an
 * arbitrary number. */
#define LOCK_ID "8029474310"

const char *postgres_migrations_name(const struct migration_set *migrations)
{
    return migrations->rows == migrations_postgres_scrapes.rows ? "scrapes" : "main";
}

bool postgres_read_version(struct sql_connection *connection, const char *name, int64_t *version,
                           struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT version FROM opsbrain_schema WHERE name = ?1");
    bool found;

    sql_bind_text(&sql, 1, name);
    if (!sql_find(&sql, &found, error))
        return false;
    *version = found ? sql_integer(&sql, 0) : 0;
    return true;
}

/* Refuses a schema that has another program's tables. Creates opsbrain_schema and opsbrain_holder
 * in an empty schema. */
static CHECKED bool claim_schema(struct sql_connection *writer, struct error *error)
{
    bool ours, found;

    if (!sql_connection_has_table(writer, "opsbrain_schema", &ours, error))
        return false;
    SQL_AUTO sql =
        sql_begin(writer, "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1");
    if (!ours && !sql_find(&sql, &found, error))
        return false;
    if (!ours && found)
        return error_set(
            error, ERROR_CONFLICT,
            "database %s has another program's tables: choose another database, or "
            "give opsbrain a schema of its own (add ?options=-csearch_path%%3DNAME to the URL)",
            writer->place);
    return ours
           || postgres_run(postgres_of(writer),
                           "CREATE TABLE opsbrain_schema (name TEXT PRIMARY KEY, "
                           "version BIGINT NOT NULL); "
                           "CREATE TABLE opsbrain_holder (name TEXT PRIMARY KEY, "
                           "holder TEXT NOT NULL, process TEXT NOT NULL, "
                           "fence BIGINT NOT NULL, batch BIGINT NOT NULL, "
                           "batch_before BIGINT NOT NULL, since TIMESTAMPTZ NOT NULL, "
                           "until TIMESTAMPTZ NOT NULL)",
                           error);
}

static CHECKED bool apply(struct sql_connection *writer, const struct migration_set *migrations,
                          int64_t version, struct error *error)
{
    TEXT_AUTO statement = { 0 };

    if (!postgres_run(postgres_of(writer), POSTGRES_NO_LIMIT, error))
        return false;
    for (int i = (int)version; i < migrations->count; i++)
        if (!postgres_run(postgres_of(writer), migrations->rows[i].sql, error))
            return error_set(error, error->kind, "migration %s: %s", migrations->rows[i].name,
                             error->message);
    text_addf(&statement,
              "INSERT INTO opsbrain_schema (name, version) VALUES ('%s', %d) "
              "ON CONFLICT (name) DO UPDATE SET version = excluded.version",
              postgres_migrations_name(migrations), migrations->count);
    return postgres_run(postgres_of(writer), text_string(&statement), error);
}

static CHECKED bool check_version(struct sql_connection *writer,
                                  const struct migration_set *migrations, int64_t *version,
                                  struct error *error)
{
    if (!postgres_read_version(writer, postgres_migrations_name(migrations), version, error))
        return false;
    return *version <= migrations->count
           || error_set(error, ERROR_CONFLICT,
                        "database %s has version %lld, but this opsbrain supports up to %d: run a "
                        "newer opsbrain or restore a backup",
                        writer->place, (long long)*version, migrations->count);
}

/* Claims the schema for opsbrain and checks its version, in a transaction with a lock, because two
 * processes can start at the same time. */
static CHECKED bool claim_and_check(struct sql_connection *writer,
                                    const struct migration_set *migrations, struct error *error)
{
    struct postgres_connection *connection = postgres_of(writer);
    int64_t version;

    return postgres_run(connection, "BEGIN", error)
           && postgres_run(connection, "SELECT pg_advisory_xact_lock(" LOCK_ID ")", error)
           && claim_schema(writer, error) && check_version(writer, migrations, &version, error)
           && postgres_run(connection, "COMMIT", error);
}

/* Applies all missing migrations in one transaction, as the holder (postgres_holder.c). If that
 * fails, the previous version of opsbrain can still use the database. */
static CHECKED bool migrate(struct sql_connection *writer, const struct migration_set *migrations,
                            struct error *error)
{
    int64_t version;

    return postgres_begin(writer, error) && check_version(writer, migrations, &version, error)
           && (version == migrations->count || apply(writer, migrations, version, error))
           && postgres_commit(writer, error);
}

static bool roll_back(struct postgres_connection *connection)
{
    struct error ignored; /* if the connection was lost, the server has rolled back already */

    error_ignore(postgres_run(connection, "ROLLBACK", &ignored));
    return false;
}

/* After the two tables that it needs for that exist, becomes the holder (postgres_holder.c), and
 * only then migrates: everything else in the database may be changed only by the holder. */
bool postgres_prepare_schema(struct sql_connection *writer, const struct migration_set *migrations,
                             struct error *error)
{
    struct postgres_connection *connection = postgres_of(writer);

    connection->set = postgres_migrations_name(migrations);
    if (!claim_and_check(writer, migrations, error))
        return roll_back(connection);
    if (!postgres_holder_become(connection, error))
        return false;
    return migrate(writer, migrations, error) || roll_back(connection);
}
