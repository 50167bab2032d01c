/* SPDX-License-Identifier: Apache-2.0 */
/* Rolls up scrapes and packs them by series, one window (rollup_window.h) at a time. */
#include <stdlib.h>

#include "base/core/memory.h"
#include "store/ledger/store_private.h"
#include "store/series/rollup_window.h"
#include "store/series/rollup_writer.h"
#include "store/series/scrapes.h"

#define DAY_MS (24 * 60 * 60 * 1000LL)

/* Deletes the scrapes before the window's last scrape. That one is kept, because the next window
 * counts growth from it. */
static CHECKED bool delete_scrapes(const struct rollup_window *window, struct error *error)
{
    SQL_AUTO sql = sql_begin(window->connection, "DELETE FROM samples WHERE deployment_id = ?1 "
                                                 "AND at_ms < ?2");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, window->at_ms[window->count - 1]);
    return sql_run(&sql, error);
}

/* Ensures that no value in the window is newer than the seen_ms of its series. If the seen_ms of a
 * series with values in the window is before the window's last scrape, sets it to one day after
 * that scrape, so that it is written at most about once a day. */
static CHECKED bool note_seen(const struct rollup_window *window, struct error *error)
{
    int64_t last_ms = window->at_ms[window->count - 1];
    SQL_AUTO sql = sql_begin(window->connection, "UPDATE series SET seen_ms = ?2 WHERE id = ?1");

    for (size_t i = 0; i < window->source_count; i++) {
        const struct source *source = &window->sources[i];

        if (!source->has_values || source->seen_ms >= last_ms)
            continue;
        sql_bind_integer(&sql, 1, source->series);
        sql_bind_integer(&sql, 2, last_ms + DAY_MS);
        if (!sql_run(&sql, error))
            return false;
    }
    return true;
}

static CHECKED bool note_until(const struct rollup_window *window, struct error *error)
{
    SQL_AUTO sql = sql_begin(window->connection,
                             "INSERT INTO compacted (deployment_id, until_ms) VALUES (?1, ?2) "
                             "ON CONFLICT (deployment_id) DO UPDATE SET until_ms = ?2");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, window->to_ms);
    return sql_run(&sql, error);
}

static CHECKED bool grow_all(struct rollup_window *window,
                             struct rollup_writer writers[SCRAPE_LEVELS], struct error *error)
{
    for (size_t first = 0, count; first < window->source_count; first += count) {
        if (!rollup_window_load(window, first, &count, error))
            return false;
        for (size_t i = first; i < first + count; i++)
            for (int level = 0; level < SCRAPE_LEVELS; level++)
                if (!rollup_writer_add(&writers[level], &window->sources[i], error))
                    return false;
    }
    return true;
}

/* Adds the window to all levels together, so that its scrapes need not be read again for each
 * level. */
static CHECKED bool grow_levels(struct rollup_window *window, struct error *error)
{
    struct rollup_writer writers[SCRAPE_LEVELS] = { 0 };
    bool ok = true;

    for (int level = 0; ok && level < SCRAPE_LEVELS; level++)
        ok = rollup_writer_begin(&writers[level], window, (enum scrape_level)level, error);
    ok = ok && grow_all(window, writers, error);
    for (int level = 0; ok && level < SCRAPE_LEVELS; level++)
        ok = rollup_writer_end(&writers[level], error);
    for (int level = 0; level < SCRAPE_LEVELS; level++)
        rollup_writer_finish(&writers[level]);
    return ok;
}

static CHECKED bool pack_window(struct rollup_window *window, struct error *error)
{
    return rollup_window_read(window, error) && grow_levels(window, error)
           && note_seen(window, error) && delete_scrapes(window, error)
           && note_until(window, error);
}

struct request {
    int64_t deployment_id, now_ms;
    bool more;
};

static CHECKED bool apply_window(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct request *request = context;
    struct rollup_window window = { .connection = connection,
                                    .deployment_id = request->deployment_id };
    bool ok = rollup_window_find(&window, request->now_ms, error);

    request->more = window.count > 0;
    if (ok && window.count > 0)
        ok = pack_window(&window, error);
    rollup_window_finish(&window);
    return ok;
}

static CHECKED bool list_deployments(struct store *store, int64_t **out, size_t *count,
                                     struct error *error)
{
    enum sql_step step;
    READER_AUTO reader = database_reader(store->scrapes);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT DISTINCT deployment_id FROM samples");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        *out = sql_rows_grow(*out, *count, sizeof **out);
        (*out)[(*count)++] = sql_integer(&sql, 0);
    }
    return step == SQL_DONE;
}

static CHECKED bool compact_one(struct store *store, int64_t deployment_id, int64_t now_ms,
                                struct error *error)
{
    struct request request = { deployment_id, now_ms, true };

    while (request.more)
        if (!database_write(store->scrapes, apply_window, &request, error))
            return false;
    return true;
}

/* If the scrapes of a deployment cannot be rolled up, continues with the other deployments; *error
 * is then the error of the last deployment that failed. */
bool scrape_compact(struct store *store, int64_t now_ms, struct error *error)
{
    FREE_AUTO int64_t *deployments = NULL;
    size_t count = 0;
    bool ok = true;

    if (!list_deployments(store, &deployments, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        ok = compact_one(store, deployments[i], now_ms, error) && ok;
    return ok;
}
