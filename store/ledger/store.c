/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/store.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/audit/audit_tally.h"
#include "store/engine/deferred_timestamps.h"
#include "store/engine/folder.h"
#include "store/engine/postgres.h"
#include "store/engine/sqlite.h"
#include "store/ledger/store_private.h"
#include "store/series/series.h"

#define SCRAPE_READERS 2
#define CHECK_INTERVAL_NS 1000000000

static CHECKED bool open_both(struct store *store, const struct sql_engine *engine,
                              const char *main_place, const char *scrapes_place, unsigned readers,
                              struct error *error)
{
    return database_open(engine, main_place, engine->main, readers, &store->main, error)
           && database_open(engine, scrapes_place, engine->scrapes, SCRAPE_READERS, &store->scrapes,
                            error)
           && audit_upgrade(store, error) && plausible_time_load(store, error);
}

static CHECKED bool open_databases(struct store *store, const char *database, unsigned readers,
                                   struct error *error)
{
    TEXT_AUTO main = { 0 };
    TEXT_AUTO scrapes = { 0 };

    if (!folder_lock(store->folder, &store->lock_file, error))
        return false;
    if (database[0] != '\0')
        return open_both(store, &postgres_engine, database, database, readers, error);
    text_addf(&main, "%s/opsbrain.db", store->folder);
    text_addf(&scrapes, "%s/scrapes.db", store->folder);
    return open_both(store, &sqlite_engine, text_string(&main), text_string(&scrapes), readers,
                     error);
}

static CHECKED bool guard_files(void *context, struct error *error)
{
    return presence_check(context, error);
}

/* From now on, the databases refuse writes if one of the files was deleted or replaced. */
static void watch_files(struct store *store, const char *folder)
{
    static const char *const names[] = {
        "", "/lock", "/opsbrain.db", "/opsbrain.db-wal", "/scrapes.db", "/scrapes.db-wal"
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        TEXT_AUTO path = { 0 };

        text_addf(&path, "%s%s", folder, names[i]);
        presence_watch(&store->presence, text_string(&path));
    }
    database_guard(store->main, guard_files, &store->presence);
    database_guard(store->scrapes, guard_files, &store->presence);
}

void store_use_password_file(const char *path)
{
    postgres_use_password_file(path);
}

bool store_open(const char *folder, const char *database, unsigned readers, struct store **out,
                struct error *error)
{
    struct store *store = memory_zeroed(1, sizeof *store);

    store->lock_file = -1;
    store->folder = memory_copy_text(folder);
    pthread_mutex_init(&store->verdict_lock, NULL);
    pthread_mutex_init(&store->clock.lock, NULL);
    if (!open_databases(store, database, readers, error)) {
        store_close(store);
        return false;
    }
    watch_files(store, folder);
    store->deferred = deferred_timestamps_create(store->main);
    store->series = series_cache_create();
    store->tally = audit_tally_create();
    *out = store;
    return true;
}

bool store_use_audit_key(struct store *store, const char *path, struct error *error)
{
    if (path[0] != '\0' && !audit_keys_read(path, &store->audit_keys, error))
        return false;
    return audit_upgrade_begin_key(store, error);
}

bool store_require(const char *folder, struct error *error)
{
    TEXT_AUTO path = { 0 };

    text_addf(&path, "%s/opsbrain.db", folder);
    return access(text_string(&path), F_OK) == 0
           || error_set(error, ERROR_NOT_FOUND,
                        "%.200s is not an opsbrain data folder (it has no opsbrain.db): name the "
                        "server's data folder with --data or OPSBRAIN_DATA",
                        folder);
}

/* Called before the databases are closed: closing one removes its WAL file, and this must not make
 * the other refuse its last writes. If a file was already lost, writes are still refused. */
static void stop_watching(struct store *store)
{
    struct error ignored;

    if (store->presence.count == 0 || !presence_check(&store->presence, &ignored))
        return;
    database_guard(store->main, NULL, NULL);
    database_guard(store->scrapes, NULL, NULL);
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    audit_tally_close(store);
    stop_watching(store);
    database_close(store->scrapes);
    database_close(store->main);
    presence_finish(&store->presence);
    audit_tally_destroy(store->tally);
    pthread_mutex_destroy(&store->clock.lock);
    deferred_timestamps_destroy(store->deferred);
    series_cache_destroy(store->series);
    pthread_mutex_destroy(&store->verdict_lock);
    free(store->verdict);
    if (store->lock_file >= 0)
        close(store->lock_file);
    free(store->folder);
    free(store);
}

/* Writes a row and deletes it again. */
static CHECKED bool apply_probe(struct sql_connection *connection, void *context,
                                struct error *error)
{
    (void)context;
    return sql_connection_run(connection,
                              "INSERT INTO settled_requests (nonce, request_id, created_ms) "
                              "VALUES ('probe', '', 0)",
                              error)
           && sql_connection_run(connection, "DELETE FROM settled_requests WHERE nonce = 'probe'",
                                 error);
}

static CHECKED bool check_read(struct store *store, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT 1 FROM jobs LIMIT 1");

    return sql_step(&sql, error) != SQL_FAILED;
}

bool store_check(struct store *store, struct error *error)
{
    if (!presence_check(&store->presence, error) || !check_read(store, error))
        return false;
    if (clock_monotonic_ns() - database_committed_ns(store->main) < CHECK_INTERVAL_NS)
        return true;
    return database_write(store->main, apply_probe, NULL, error);
}

bool store_intact(struct store *store)
{
    struct error ignored;

    return presence_check(&store->presence, &ignored);
}

int64_t store_size_bytes(struct store *store)
{
    int64_t main_bytes = database_size_bytes(store->main);

    if (database_shares_place(store->main, store->scrapes))
        return main_bytes;
    return main_bytes + database_size_bytes(store->scrapes);
}

void store_forbid_waiting(void)
{
    database_forbid_waiting();
}

size_t store_queued(struct store *store)
{
    return database_queued(store->main) + database_queued(store->scrapes);
}
