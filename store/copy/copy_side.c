/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy/copy_side.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "store/engine/database.h"
#include "store/engine/folder.h"
#include "store/engine/postgres.h"
#include "store/engine/sqlite.h"
#include "store/ledger/store.h"

#define KEEP_INTERVAL_NS 3000000000

static const struct migration_set *migrations_of(const struct copy_side *side, enum copy_set set)
{
    return set == COPY_MAIN ? side->engine->main : side->engine->scrapes;
}

void copy_side_versions(int64_t out[COPY_SETS])
{
    out[COPY_MAIN] = migrations_sqlite_main.count;
    out[COPY_SCRAPES] = migrations_sqlite_scrapes.count;
}

/* ---- Opening ---- */

static void name_files(const struct copy_place *place, struct copy_side *side)
{
    static const char *const names[] = {
        [COPY_MAIN] = "opsbrain.db", [COPY_SCRAPES] = "scrapes.db"
    };
    char folder[PATH_MAX];

    if (realpath(place->folder, folder) == NULL)
        text_copy(folder, sizeof folder, place->folder);
    for (int set = 0; set < COPY_SETS; set++) {
        TEXT_AUTO path = { 0 };

        text_addf(&path, "%s/%s", folder, names[set]);
        side->places[set] = text_take(&path);
    }
    side->name = memory_copy_text(folder);
}

static void begin_side(const struct copy_place *place, struct copy_side *side)
{
    *side = (struct copy_side){ .engine = &sqlite_engine, .lock_file = -1 };
    if (place->database[0] == '\0') {
        name_files(place, side);
        return;
    }
    side->engine = &postgres_engine;
    for (int set = 0; set < COPY_SETS; set++)
        side->places[set] = memory_copy_text(place->database);
}

/* Names a PostgreSQL database as its connection does: without the password that its URI can
 * contain. */
static void name_side(struct copy_side *side, const struct sql_connection *connection)
{
    if (side->name == NULL)
        side->name = memory_copy_text(connection->place);
}

static CHECKED bool open_each(struct copy_side *side, enum sql_connection_kind kind,
                              struct sql_connection *out[COPY_SETS], struct error *error)
{
    for (int set = 0; set < COPY_SETS; set++)
        if (!sql_connection_open(side->engine, side->places[set], kind, &out[set], error))
            return false;
    name_side(side, out[COPY_MAIN]);
    return true;
}

static void end_writer(struct sql_connection *writer)
{
    struct error ignored; /* a lost connection no longer has a transaction */

    if (writer->engine->in_transaction(writer))
        error_ignore(sql_connection_run(writer, "ROLLBACK", &ignored));
    writer->engine->upkeep(writer, SQL_UPKEEP_END);
}

void copy_side_close(struct copy_side *side)
{
    for (int set = 0; set < COPY_SETS; set++) {
        sql_connection_close(side->readers[set]);
        if (side->writers[set] != NULL)
            end_writer(side->writers[set]);
    }
    for (int set = 0; set < COPY_SETS; set++) {
        sql_connection_close(side->writers[set]);
        free(side->places[set]);
    }
    free(side->name);
    if (side->lock_file >= 0)
        close(side->lock_file);
}

bool copy_side_keep(struct copy_side *side, struct error *error)
{
    int64_t now_ns = clock_monotonic_ns();

    if (side->engine->keep == NULL || side->writers[COPY_MAIN] == NULL
        || now_ns - side->kept_ns < KEEP_INTERVAL_NS)
        return true;
    side->kept_ns = now_ns;
    for (int set = 0; set < COPY_SETS; set++)
        if (!side->engine->keep(side->writers[set], error))
            return false;
    return true;
}

/* ---- Sources ---- */

static CHECKED bool check_version(const struct copy_side *side, enum copy_set set,
                                  struct error *error)
{
    const struct migration_set *migrations = migrations_of(side, set);
    int64_t version;

    if (!side->engine->version(side->readers[set], migrations, &version, error))
        return false;
    if (version == migrations->count)
        return true;
    if (version == 0)
        return error_set(error, ERROR_NOT_FOUND, "%s is not an opsbrain database", side->name);
    if (version < migrations->count)
        return error_set(error, ERROR_CONFLICT,
                         "database %s has version %lld, but this opsbrain copies version %d: start "
                         "`opsbrain serve` on it once, which brings it up to date",
                         side->name, (long long)version, migrations->count);
    return error_set(
        error, ERROR_CONFLICT,
        "database %s has version %lld, but this opsbrain supports up to %d: run a newer "
        "opsbrain",
        side->name, (long long)version, migrations->count);
}

static CHECKED bool check_finished(const struct copy_side *side, struct error *error)
{
    bool unfinished;

    if (!sql_connection_has_table(side->readers[COPY_MAIN], DATABASE_UNFINISHED_COPY, &unfinished,
                                  error))
        return false;
    return !unfinished
           || error_set(error, ERROR_CONFLICT,
                        "database %s is an unfinished copy: finish copying it first", side->name);
}

/* Scrapes refer to deployments, which are in the main set, so the snapshot of the scrapes begins
 * before that of the main set. */
static CHECKED bool take_snapshots(struct copy_side *side, struct error *error)
{
    return check_version(side, COPY_MAIN, error) && check_version(side, COPY_SCRAPES, error)
           && check_finished(side, error)
           && side->engine->snapshot(side->readers[COPY_SCRAPES], error)
           && side->engine->snapshot(side->readers[COPY_MAIN], error);
}

/* Keeps servers from using the database. With SQLite, the folder is locked. A PostgreSQL database
 * records its holder in a table; prepare_schema makes this process the holder. */
static CHECKED bool hold(const struct copy_place *place, struct copy_side *side,
                         struct error *error)
{
    if (side->engine == &sqlite_engine)
        return folder_lock(place->folder, &side->lock_file, error);
    if (!check_version(side, COPY_MAIN, error) || !check_version(side, COPY_SCRAPES, error)
        || !open_each(side, SQL_CONNECTION_WRITER, side->writers, error))
        return false;
    for (int set = 0; set < COPY_SETS; set++)
        if (!side->engine->prepare_schema(side->writers[set],
                                          migrations_of(side, (enum copy_set)set), error))
            return false;
    return true;
}

bool copy_side_open_source(const struct copy_place *place, bool alone, struct copy_side *out,
                           struct error *error)
{
    if (place->database[0] == '\0' && !store_require(place->folder, error))
        return false;
    begin_side(place, out);
    if (open_each(out, SQL_CONNECTION_READER, out->readers, error)
        && (!alone || hold(place, out, error)) && take_snapshots(out, error))
        return true;
    copy_side_close(out);
    return false;
}

/* ---- Targets ---- */

static CHECKED bool check_table(const struct copy_side *side, const struct copy_table *table,
                                struct error *error)
{
    struct sql_connection *writer = side->writers[table->set];
    bool found;

    if (!sql_connection_has_table(writer, table->schema->name, &found, error))
        return false;
    if (!found) /* the store drops a table that it has emptied */
        return true;
    SQL_AUTO sql = sql_begin(writer, table->count);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    return sql_integer(&sql, 0) == 0
           || error_set(error, ERROR_CONFLICT,
                        "database %s is not empty (table %s has rows): name a new folder or an "
                        "empty database",
                        side->name, table->schema->name);
}

static CHECKED bool check_empty(const struct copy_side *side, const struct copy_tables *tables,
                                struct error *error)
{
    for (size_t i = 0; i < tables->count; i++)
        if (!check_table(side, &tables->list[i], error))
            return false;
    return true;
}

static CHECKED bool write_mark(const struct copy_side *side, const char *origin,
                               struct error *error)
{
    struct sql_connection *writer = side->writers[COPY_MAIN];

    if (!side->engine->begin(writer, error)
        || !sql_connection_run(
            writer, "CREATE TABLE " DATABASE_UNFINISHED_COPY " (origin TEXT PRIMARY KEY)", error))
        return false;
    SQL_AUTO sql =
        sql_begin(writer, "INSERT INTO " DATABASE_UNFINISHED_COPY " (origin) VALUES (?1)");
    sql_bind_text(&sql, 1, origin);
    return sql_run(&sql, error) && side->engine->commit(writer, error);
}

static CHECKED bool check_mark(const struct copy_side *side, const char *origin,
                               struct error *error)
{
    SQL_AUTO sql =
        sql_begin(side->writers[COPY_MAIN], "SELECT origin FROM " DATABASE_UNFINISHED_COPY);

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    FREE_AUTO char *begun = sql_text_copy(&sql, 0);
    return strcmp(begun, origin) == 0
           || error_set(
               error, ERROR_CONFLICT,
               "database %s is an unfinished copy of %.160s: finish that copy, or delete the "
               "database",
               side->name, begun);
}

/* Marks the database as an unfinished copy before copy_begin suspends the foreign keys: a database
 * without them must not be served. */
static CHECKED bool begin_copy(const struct copy_side *side, const struct copy_tables *tables,
                               const char *origin, struct error *error)
{
    bool begun;

    if (!sql_connection_has_table(side->writers[COPY_MAIN], DATABASE_UNFINISHED_COPY, &begun,
                                  error))
        return false;
    if (begun ? !check_mark(side, origin, error)
              : !check_empty(side, tables, error) || !write_mark(side, origin, error))
        return false;
    for (int set = 0; set < COPY_SETS; set++)
        if (!side->engine->copy_begin(side->writers[set], error))
            return false;
    return true;
}

/* A target whose version is older than the copy's is migrated only if it is empty. */
static CHECKED bool check_older(const struct copy_side *side, const struct migration_set *some,
                                struct sql_connection *writer, const struct copy_tables *tables,
                                struct error *error)
{
    int64_t version;

    if (!side->engine->version(writer, some, &version, error))
        return false;
    return version == 0 || version >= some->count || check_empty(side, tables, error);
}

static CHECKED bool prepare(struct copy_side *side, const int64_t versions[COPY_SETS],
                            const struct copy_tables *tables, struct error *error)
{
    for (int set = 0; set < COPY_SETS; set++) {
        const struct migration_set some = { migrations_of(side, (enum copy_set)set)->rows,
                                            (int)versions[set] };

        if (!check_older(side, &some, side->writers[set], tables, error)
            || !side->engine->prepare_schema(side->writers[set], &some, error))
            return false;
    }
    return true;
}

bool copy_side_open_target(const struct copy_place *place, const int64_t versions[COPY_SETS],
                           const struct copy_tables *tables, const char *origin,
                           struct copy_side *out, struct error *error)
{
    int lock_file = -1;

    if (place->database[0] == '\0' && !folder_lock(place->folder, &lock_file, error))
        return false;
    begin_side(place, out);
    out->lock_file = lock_file;
    if (open_each(out, SQL_CONNECTION_WRITER, out->writers, error)
        && prepare(out, versions, tables, error) && begin_copy(out, tables, origin, error))
        return true;
    copy_side_close(out);
    return false;
}
