/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/rollup_window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/sql.h"
#include "store/series/block.h"
#include "store/series/samples.h"

#define LONG_WINDOW_MS (60 * 60 * 1000LL)
#define SHORT_WINDOW_MS BLOCK_EARLY_MS
/* If the first ten minutes have more scrapes than this, the window ends after these ten minutes. */
#define SHORT_FROM_ROWS 120
#define GRACE_MS 30000 /* a window's last scrapes can still be running this long after its end */
/* At most this many values (4 MiB) are in memory at once, unless a single series has more. */
#define VALUES_LOADED 524288

/* ---- Finding the next window ---- */

/* Finds the time of the first scrape that is not rolled up yet; *at_ms INT64_MAX: there is none. */
static CHECKED bool find_first(const struct rollup_window *window, int64_t *at_ms,
                               struct error *error)
{
    SQL_AUTO sql = sql_begin(
        window->connection, "SELECT coalesce(min(at_ms), ?2) FROM samples WHERE deployment_id = ?1 "
                            "AND at_ms >= coalesce((SELECT until_ms FROM compacted "
                            "WHERE deployment_id = ?1), 0)");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, INT64_MAX);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *at_ms = sql_integer(&sql, 0);
    return true;
}

static CHECKED bool count_rows(const struct rollup_window *window, int64_t from_ms, int64_t to_ms,
                               int64_t *out, struct error *error)
{
    SQL_AUTO sql = sql_begin(window->connection, "SELECT count(*) FROM samples WHERE "
                                                 "deployment_id = ?1 AND at_ms >= ?2 "
                                                 "AND at_ms < ?3");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, from_ms);
    sql_bind_integer(&sql, 3, to_ms);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

bool rollup_window_find(struct rollup_window *window, int64_t now_ms, struct error *error)
{
    int64_t first_ms, rows, length_ms = LONG_WINDOW_MS;

    if (!find_first(window, &first_ms, error))
        return false;
    if (first_ms >= now_ms)
        return true;
    window->from_ms = first_ms - first_ms % SHORT_WINDOW_MS;
    if (!count_rows(window, window->from_ms, window->from_ms + SHORT_WINDOW_MS, &rows, error))
        return false;
    if (rows > SHORT_FROM_ROWS)
        length_ms = SHORT_WINDOW_MS;
    window->to_ms = first_ms - first_ms % length_ms + length_ms;
    if (window->to_ms + GRACE_MS > now_ms)
        return true;
    if (!count_rows(window, window->from_ms, window->to_ms, &rows, error))
        return false;
    window->count = (size_t)rows;
    return true;
}

/* ---- The window's times and series ---- */

/* Finds the last scrape before the window; *epoch -1: there is none. */
static CHECKED bool read_time_before(struct rollup_window *window, int64_t *epoch,
                                     struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(window->connection, "SELECT at_ms, epoch FROM samples WHERE deployment_id = ?1 "
                                      "AND at_ms < ?2 ORDER BY at_ms DESC LIMIT 1");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, window->from_ms);
    if (!sql_find(&sql, &found, error))
        return false;
    window->before_ms = found ? sql_integer(&sql, 0) : -1;
    *epoch = found ? sql_integer(&sql, 1) : -1;
    return true;
}

static CHECKED bool read_times(struct rollup_window *window, struct error *error)
{
    size_t index = 0;
    int64_t epoch;
    enum sql_step step;
    SQL_AUTO sql =
        sql_begin(window->connection, "SELECT at_ms, epoch FROM samples WHERE deployment_id = ?1 "
                                      "AND at_ms >= ?2 AND at_ms < ?3 ORDER BY at_ms");

    if (!read_time_before(window, &epoch, error))
        return false;
    window->at_ms = memory_zeroed(window->count, sizeof *window->at_ms);
    window->follows = memory_zeroed(window->count, sizeof *window->follows);
    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, window->from_ms);
    sql_bind_integer(&sql, 3, window->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW && index < window->count) {
        window->follows[index] = epoch == sql_integer(&sql, 1);
        window->at_ms[index++] = sql_integer(&sql, 0);
        epoch = sql_integer(&sql, 1);
    }
    return step != SQL_FAILED;
}

static CHECKED bool read_sources(struct rollup_window *window, struct error *error)
{
    enum sql_step step;
    char type[16];
    SQL_AUTO sql =
        sql_begin(window->connection, "SELECT id, family, type, seen_ms FROM "
                                      "series WHERE deployment_id = ?1 ORDER BY family, id");

    sql_bind_integer(&sql, 1, window->deployment_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        window->sources =
            sql_rows_grow(window->sources, window->source_count, sizeof *window->sources);
        sql_text(&sql, 2, type, sizeof type);
        window->sources[window->source_count++] =
            (struct source){ .series = sql_integer(&sql, 0),
                             .family = sql_integer(&sql, 1),
                             .seen_ms = sql_integer(&sql, 3),
                             .is_counter = strcmp(type, "counter") == 0,
                             .before = NAN };
    }
    return step == SQL_DONE;
}

bool rollup_window_read(struct rollup_window *window, struct error *error)
{
    return read_times(window, error) && read_sources(window, error);
}

/* ---- The values of some series ---- */

struct batch {
    struct source **sources; /* in ascending order of their series ids */
    size_t count;
};

static int by_series(const void *a, const void *b)
{
    const struct source *x = *(const struct source *const *)a;
    const struct source *y = *(const struct source *const *)b;

    return x->series < y->series ? -1 : x->series > y->series;
}

static void make_batch(struct rollup_window *window, size_t first, struct batch *out)
{
    size_t most = window->count < VALUES_LOADED ? VALUES_LOADED / window->count : 1;

    out->count = window->source_count - first < most ? window->source_count - first : most;
    out->sources = memory_zeroed(out->count, sizeof(struct source *));
    free(window->values);
    window->values = memory_zeroed(out->count * window->count, sizeof *window->values);
    for (size_t i = 0; i < out->count * window->count; i++)
        window->values[i] = NAN;
    for (size_t i = 0; i < out->count; i++) {
        out->sources[i] = &window->sources[first + i];
        out->sources[i]->values = window->values + i * window->count;
    }
    qsort(out->sources, out->count, sizeof *out->sources, by_series);
}

/* Copies one scrape's samples to their series: to values[index] or, if `index` is -1, to `before`.
 * A value that is not finite counts as absent. */
static CHECKED bool copy_samples(struct batch *batch, const void *data, size_t length,
                                 int64_t index, struct error *error)
{
    FREE_AUTO struct sample *samples = NULL;
    size_t count, at = 0;

    if (!samples_unpack(data, length, &samples, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        while (at < batch->count && batch->sources[at]->series < samples[i].series)
            at++;
        if (at == batch->count)
            break;
        struct source *source = batch->sources[at];
        if (source->series != samples[i].series || !isfinite(samples[i].value))
            continue;
        if (index < 0)
            source->before = samples[i].value;
        else
            source->values[index] = samples[i].value;
        source->has_values = source->has_values || index >= 0;
    }
    return true;
}

/* Reads the values for the batch, beginning with the scrape before the window if there is one. */
static CHECKED bool read_scrapes(const struct rollup_window *window, struct batch *batch,
                                 struct error *error)
{
    int64_t index = window->before_ms < 0 ? 0 : -1;
    enum sql_step step;
    size_t length;
    SQL_AUTO sql =
        sql_begin(window->connection, "SELECT data FROM samples WHERE deployment_id = ?1 "
                                      "AND at_ms >= ?2 AND at_ms < ?3 ORDER BY at_ms");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, window->before_ms < 0 ? window->from_ms : window->before_ms);
    sql_bind_integer(&sql, 3, window->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW && index < (int64_t)window->count) {
        const void *data = sql_blob(&sql, 0, &length);

        if (!copy_samples(batch, data, length, index++, error))
            return false;
    }
    return step != SQL_FAILED;
}

bool rollup_window_load(struct rollup_window *window, size_t first, size_t *count,
                        struct error *error)
{
    struct batch batch;
    bool ok;

    make_batch(window, first, &batch);
    ok = read_scrapes(window, &batch, error);
    *count = batch.count;
    free(batch.sources);
    return ok;
}

void rollup_window_finish(struct rollup_window *window)
{
    free(window->values);
    free(window->sources);
    free(window->follows);
    free(window->at_ms);
}
