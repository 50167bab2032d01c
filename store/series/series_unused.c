/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes series without stored values, so that labels that come and go (pods, adapters) do not use
 * up a deployment's limit on series. */
#include <stdlib.h>

#include "base/core/memory.h"
#include "store/ledger/store_private.h"
#include "store/series/samples.h"
#include "store/series/series.h"

/* The series of one deployment that might be unused. */
struct unused {
    struct series_cache *cache;
    int64_t deployment_id;
    int64_t *ids; /* ascending */
    size_t count;
};

/* Finds the series that are sure to have no point in any block: no block has a point that is newer
 * than the seen_ms of its series, so these are the series whose seen_ms is before the beginning of
 * the first block. If there are no blocks, finds all series. */
static CHECKED bool find_without_block(struct sql_connection *connection, struct unused *unused,
                                       struct error *error)
{
    enum sql_step step;
    SQL_AUTO sql =
        sql_begin(connection, "SELECT id FROM series WHERE deployment_id = ?1 AND seen_ms < "
                              "coalesce((SELECT min(from_ms) FROM blocks WHERE deployment_id = "
                              "?1), ?2) ORDER BY id");

    sql_bind_integer(&sql, 1, unused->deployment_id);
    sql_bind_integer(&sql, 2, INT64_MAX);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        unused->ids = sql_rows_grow(unused->ids, unused->count, sizeof *unused->ids);
        unused->ids[unused->count++] = sql_integer(&sql, 0);
    }
    return step == SQL_DONE;
}

static CHECKED bool remove_used(struct unused *unused, const void *data, size_t length,
                                struct error *error)
{
    FREE_AUTO struct sample *samples = NULL;
    size_t count, at = 0, kept = 0;

    if (!samples_unpack(data, length, &samples, &count, error))
        return false;
    for (size_t i = 0; i < unused->count; i++) {
        while (at < count && samples[at].series < unused->ids[i])
            at++;
        if (at == count || samples[at].series != unused->ids[i])
            unused->ids[kept++] = unused->ids[i];
    }
    unused->count = kept;
    return true;
}

/* Removes from the list the series that have a value in `samples`. Begins with the newest scrape,
 * which usually has all series that are in use. */
static CHECKED bool remove_scraped(struct sql_connection *connection, struct unused *unused,
                                   struct error *error)
{
    enum sql_step step = SQL_DONE;
    size_t length;
    SQL_AUTO sql = sql_begin(connection, "SELECT data FROM samples WHERE deployment_id = ?1 "
                                         "ORDER BY at_ms DESC");

    sql_bind_integer(&sql, 1, unused->deployment_id);
    while (unused->count > 0 && (step = sql_step(&sql, error)) == SQL_ROW) {
        const void *data = sql_blob(&sql, 0, &length);

        if (!remove_used(unused, data, length, error))
            return false;
    }
    return step != SQL_FAILED;
}

static CHECKED bool delete_series(struct sql_connection *connection, const struct unused *unused,
                                  struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "DELETE FROM series WHERE id = ?1");

    for (size_t i = 0; i < unused->count; i++) {
        sql_bind_integer(&sql, 1, unused->ids[i]);
        if (!sql_run(&sql, error))
            return false;
    }
    return true;
}

static CHECKED bool apply_delete(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct unused *unused = context;

    unused->count = 0;
    if (!find_without_block(connection, unused, error) || !remove_scraped(connection, unused, error)
        || !delete_series(connection, unused, error))
        return false;
    if (unused->count > 0)
        series_cache_forget(unused->cache, unused->deployment_id);
    return true;
}

static CHECKED bool list_deployments(struct store *store, int64_t **out, size_t *count,
                                     struct error *error)
{
    enum sql_step step;
    READER_AUTO reader = database_reader(store->scrapes);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT DISTINCT deployment_id FROM series");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        *out = sql_rows_grow(*out, *count, sizeof **out);
        (*out)[(*count)++] = sql_integer(&sql, 0);
    }
    return step == SQL_DONE;
}

bool series_delete_unused(struct store *store, struct error *error)
{
    FREE_AUTO int64_t *deployments = NULL;
    size_t count = 0;
    bool ok = list_deployments(store, &deployments, &count, error);

    for (size_t i = 0; ok && i < count; i++) {
        struct unused unused = { .cache = store->series, .deployment_id = deployments[i] };

        ok = database_write(store->scrapes, apply_delete, &unused, error);
        free(unused.ids);
    }
    return ok;
}
