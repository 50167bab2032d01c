/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a SQLite file: its version is the number of migrations applied to it. */
#include <string.h>

#include "base/core/log.h"
#include "base/core/text.h"
#include "store/engine/sql.h"
#include "store/engine/sqlite.h"

#define APPLICATION_ID 0x6f707362            /* the letters "opsb" */
#define CHECK_LIMIT_BYTES (64 * 1024 * 1024) /* larger files are not checked at startup */

static CHECKED bool read_integer(struct sql_connection *connection, const char *query, int64_t *out,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, query);

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

/* Accepts only a new file, which has no tables, or a file with opsbrain's application id. */
bool sqlite_version(struct sql_connection *connection, const struct migration_set *migrations,
                    int64_t *out, struct error *error)
{
    int64_t application, tables;

    (void)migrations;
    if (!read_integer(connection, "PRAGMA user_version", out, error)
        || !read_integer(connection, "PRAGMA application_id", &application, error)
        || !read_integer(connection, "SELECT count(*) FROM sqlite_schema", &tables, error))
        return false;
    if (tables > 0 && application != APPLICATION_ID)
        return error_set(error, ERROR_CONFLICT,
                         "%s is another program's database: choose another data folder",
                         connection->place);
    return true;
}

static CHECKED bool check_integrity(struct sql_connection *writer, struct error *error)
{
    int64_t pages, page_bytes;
    char verdict[200];

    if (!read_integer(writer, "PRAGMA page_count", &pages, error)
        || !read_integer(writer, "PRAGMA page_size", &page_bytes, error))
        return false;
    if (pages * page_bytes > CHECK_LIMIT_BYTES)
        return true;
    SQL_AUTO sql = sql_begin(writer, "PRAGMA quick_check(1)");
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    sql_text(&sql, 0, verdict, sizeof verdict);
    if (strcmp(verdict, "ok") != 0)
        return error_set(error, ERROR_INTERNAL,
                         "database %s is corrupt (%s): restore the file from a backup",
                         writer->place, verdict);
    return true;
}

static CHECKED bool use_wal(struct sql_connection *writer, struct error *error)
{
    char mode[16];
    SQL_AUTO sql = sql_begin(writer, "PRAGMA journal_mode = WAL");

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    sql_text(&sql, 0, mode, sizeof mode);
    if (strcmp(mode, "wal") != 0)
        return error_set(
            error, ERROR_INTERNAL,
            "database %s cannot keep a write-ahead log (journal mode %s): put the data "
            "folder on a local disk",
            writer->place, mode);
    return true;
}

bool sqlite_check_references(struct sql_connection *connection, struct error *error)
{
    char table[64];
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "PRAGMA foreign_key_check");

    step = sql_step(&sql, error);
    if (step != SQL_ROW)
        return step != SQL_FAILED;
    sql_text(&sql, 0, table, sizeof table);
    return error_set(error, ERROR_INTERNAL, "rows of table %s refer to rows that do not exist",
                     table);
}

static CHECKED bool apply(struct sql_connection *writer, const struct migration_set *migrations,
                          int64_t version, struct error *error)
{
    TEXT_AUTO statement = { 0 };

    for (int i = (int)version; i < migrations->count; i++)
        if (!sqlite_run(writer, migrations->rows[i].sql, error))
            return error_set(error, error->kind, "migration %s: %s", migrations->rows[i].name,
                             error->message);
    text_addf(&statement, "PRAGMA user_version = %d", migrations->count);
    return sqlite_check_references(writer, error)
           && sqlite_run(writer, text_string(&statement), error);
}

/* Applies all missing migrations in one transaction. If that fails, the previous version of
 * opsbrain can still use the database. */
static CHECKED bool migrate(struct sql_connection *writer, const struct migration_set *migrations,
                            int64_t version, struct error *error)
{
    struct error problem;

    if (version == migrations->count)
        return true;
    if (sqlite_run(writer, "BEGIN IMMEDIATE", error) && apply(writer, migrations, version, error)
        && sqlite_run(writer, "COMMIT", error))
        return true;
    if (writer->engine->in_transaction(writer) && !sqlite_run(writer, "ROLLBACK", &problem))
        log_error("the migrations of %s could not be rolled back: %s", writer->place,
                  problem.message);
    return false;
}

/* A migration that replaces a table drops the old one. If other tables refer to it, that works only
 * while references are not enforced, so they are checked after the last migration instead
 * (sqlite.org/lang_altertable.html, section 7). */
static CHECKED bool migrate_unchecked(struct sql_connection *writer,
                                      const struct migration_set *migrations, int64_t version,
                                      struct error *error)
{
    struct error ignored;
    bool done = sqlite_run(writer, "PRAGMA foreign_keys = OFF", error)
                && migrate(writer, migrations, version, error);

    return sqlite_run(writer, "PRAGMA foreign_keys = ON", done ? error : &ignored) && done;
}

bool sqlite_prepare_schema(struct sql_connection *writer, const struct migration_set *migrations,
                           struct error *error)
{
    int64_t version;
    TEXT_AUTO settings = { 0 };

    if (!sqlite_version(writer, migrations, &version, error))
        return false;
    if (version > migrations->count)
        return error_set(
            error, ERROR_CONFLICT,
            "database %s has version %lld, but this opsbrain supports up to %d: run a newer "
            "opsbrain or restore a backup",
            writer->place, (long long)version, migrations->count);
    /* The rows of scrapes.db are long: larger pages are faster. */
    if (migrations->rows == migrations_sqlite_scrapes.rows)
        text_add(&settings, "PRAGMA page_size = 8192; ");
    text_addf(&settings, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = %d;",
              APPLICATION_ID);
    if (version == 0 && !sqlite_run(writer, text_string(&settings), error))
        return false;
    return use_wal(writer, error) && check_integrity(writer, error)
           && migrate_unchecked(writer, migrations, version, error);
}
