#include "store/series/rollup_window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/sql.h"
#include "store/series/block.h"
#include "store/series/samples.h"

#define LONG_STRETCH_MS (60 * 60 * 1000LL)
#define SHORT_STRETCH_MS BLOCK_EARLY_MS
#define SHORT_FROM_ROWS 120  /* in a short stretch: where there are more, stretches are short */
#define GRACE_MS 30000       /* for scrapes that are still under way */
#define VALUES_LOADED 524288 /* at once: 4 MiB */

/* ---- Which stretch is next ---- */

/* INT64_MAX: there is none. */
static bool find_first(const struct stretch *stretch, int64_t *at_ms, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(stretch->connection,
                  "SELECT coalesce(min(at_ms), ?2) FROM samples WHERE deployment_id = ?1 "
                  "AND at_ms >= coalesce((SELECT until_ms FROM compacted "
                  "WHERE deployment_id = ?1), 0)");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, INT64_MAX);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *at_ms = sql_integer(&sql, 0);
    return true;
}

static bool count_rows(const struct stretch *stretch, int64_t from_ms, int64_t to_ms, int64_t *out,
                       struct error *error)
{
    SQL_AUTO sql = sql_begin(stretch->connection, "SELECT count(*) FROM samples WHERE "
                                                  "deployment_id = ?1 AND at_ms >= ?2 "
                                                  "AND at_ms < ?3");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, from_ms);
    sql_bind_integer(&sql, 3, to_ms);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

bool stretch_find(struct stretch *stretch, int64_t now_ms, struct error *error)
{
    int64_t first_ms, rows, length_ms = LONG_STRETCH_MS;

    if (!find_first(stretch, &first_ms, error))
        return false;
    if (first_ms >= now_ms)
        return true;
    stretch->from_ms = first_ms - first_ms % SHORT_STRETCH_MS;
    if (!count_rows(stretch, stretch->from_ms, stretch->from_ms + SHORT_STRETCH_MS, &rows, error))
        return false;
    if (rows > SHORT_FROM_ROWS)
        length_ms = SHORT_STRETCH_MS;
    stretch->to_ms = first_ms - first_ms % length_ms + length_ms;
    if (stretch->to_ms + GRACE_MS > now_ms)
        return true;
    if (!count_rows(stretch, stretch->from_ms, stretch->to_ms, &rows, error))
        return false;
    stretch->count = (size_t)rows;
    return true;
}

/* ---- Its times and series ---- */

/* *epoch -1: there is none. */
static bool read_before_time(struct stretch *stretch, int64_t *epoch, struct error *error)
{
    bool found;
    SQL_AUTO sql =
        sql_begin(stretch->connection, "SELECT at_ms, epoch FROM samples WHERE deployment_id = ?1 "
                                       "AND at_ms < ?2 ORDER BY at_ms DESC LIMIT 1");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->from_ms);
    if (!sql_find(&sql, &found, error))
        return false;
    stretch->before_ms = found ? sql_integer(&sql, 0) : -1;
    *epoch = found ? sql_integer(&sql, 1) : -1;
    return true;
}

static bool read_times(struct stretch *stretch, struct error *error)
{
    size_t index = 0;
    int64_t epoch;
    enum sql_step step;
    SQL_AUTO sql =
        sql_begin(stretch->connection, "SELECT at_ms, epoch FROM samples WHERE deployment_id = ?1 "
                                       "AND at_ms >= ?2 AND at_ms < ?3 ORDER BY at_ms");

    if (!read_before_time(stretch, &epoch, error))
        return false;
    stretch->at_ms = memory_zeroed(stretch->count, sizeof *stretch->at_ms);
    stretch->follows = memory_zeroed(stretch->count, sizeof *stretch->follows);
    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->from_ms);
    sql_bind_integer(&sql, 3, stretch->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW && index < stretch->count) {
        stretch->follows[index] = epoch == sql_integer(&sql, 1);
        stretch->at_ms[index++] = sql_integer(&sql, 0);
        epoch = sql_integer(&sql, 1);
    }
    return step != SQL_FAILED;
}

static bool read_sources(struct stretch *stretch, struct error *error)
{
    enum sql_step step;
    char type[16];
    SQL_AUTO sql =
        sql_begin(stretch->connection, "SELECT id, family, type, seen_ms FROM "
                                       "series WHERE deployment_id = ?1 ORDER BY family, id");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        stretch->sources =
            rows_grow(stretch->sources, stretch->source_count, sizeof *stretch->sources);
        sql_text(&sql, 2, type, sizeof type);
        stretch->sources[stretch->source_count++] =
            (struct source){ .series = sql_integer(&sql, 0),
                             .family = sql_integer(&sql, 1),
                             .seen_ms = sql_integer(&sql, 3),
                             .counter = strcmp(type, "counter") == 0,
                             .before = NAN };
    }
    return step == SQL_DONE;
}

bool stretch_read(struct stretch *stretch, struct error *error)
{
    return read_times(stretch, error) && read_sources(stretch, error);
}

/* ---- Values of some of its series ---- */

struct batch {
    struct source **sources; /* by series */
    size_t count;
};

static int by_series(const void *a, const void *b)
{
    const struct source *x = *(const struct source *const *)a;
    const struct source *y = *(const struct source *const *)b;

    return x->series < y->series ? -1 : x->series > y->series;
}

static void make_batch(struct stretch *stretch, size_t first, struct batch *out)
{
    size_t most = stretch->count < VALUES_LOADED ? VALUES_LOADED / stretch->count : 1;

    out->count = stretch->source_count - first < most ? stretch->source_count - first : most;
    out->sources = memory_zeroed(out->count, sizeof(struct source *));
    free(stretch->values);
    stretch->values = memory_zeroed(out->count * stretch->count, sizeof *stretch->values);
    for (size_t i = 0; i < out->count * stretch->count; i++)
        stretch->values[i] = NAN;
    for (size_t i = 0; i < out->count; i++) {
        out->sources[i] = &stretch->sources[first + i];
        out->sources[i]->values = stretch->values + i * stretch->count;
    }
    qsort(out->sources, out->count, sizeof *out->sources, by_series);
}

/* Puts one scrape's samples to their series: as the index-th of the stretch, or (-1) as what was
 * before it. What is no number is as good as absent. */
static bool take_scrape(struct batch *batch, const void *data, size_t length, int64_t index,
                        struct error *error)
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
        source->any = source->any || index >= 0;
    }
    return true;
}

/* From the scrape before the stretch on, where there is one. */
static bool read_scrapes(const struct stretch *stretch, struct batch *batch, struct error *error)
{
    int64_t index = stretch->before_ms < 0 ? 0 : -1;
    enum sql_step step;
    size_t length;
    SQL_AUTO sql =
        sql_begin(stretch->connection, "SELECT data FROM samples WHERE deployment_id = ?1 "
                                       "AND at_ms >= ?2 AND at_ms < ?3 ORDER BY at_ms");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->before_ms < 0 ? stretch->from_ms : stretch->before_ms);
    sql_bind_integer(&sql, 3, stretch->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW && index < (int64_t)stretch->count) {
        const void *data = sql_blob(&sql, 0, &length);

        if (!take_scrape(batch, data, length, index++, error))
            return false;
    }
    return step != SQL_FAILED;
}

bool stretch_load(struct stretch *stretch, size_t first, size_t *count, struct error *error)
{
    struct batch batch;
    bool ok;

    make_batch(stretch, first, &batch);
    ok = read_scrapes(stretch, &batch, error);
    *count = batch.count;
    free(batch.sources);
    return ok;
}

void stretch_finish(struct stretch *stretch)
{
    free(stretch->values);
    free(stretch->sources);
    free(stretch->follows);
    free(stretch->at_ms);
}
