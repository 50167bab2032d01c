#include "store/stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/samples.h"
#include "store/sql.h"

#define LONG_STRETCH_MS (60 * 60 * 1000LL)
#define SHORT_STRETCH_MS (10 * 60 * 1000LL)
#define SHORT_FROM_ROWS 120 /* in a short stretch: where there are more, stretches are short */
#define GRACE_MS 30000      /* for scrapes that are still under way */

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

/* ---- What was scraped in it ---- */

static int by_series(const void *a, const void *b)
{
    const struct source *x = *(const struct source *const *)a;
    const struct source *y = *(const struct source *const *)b;

    return x->series < y->series ? -1 : x->series > y->series;
}

static bool read_sources(struct stretch *stretch, struct error *error)
{
    size_t count = 0;
    enum sql_step step;
    char type[16];
    SQL_AUTO sql = sql_begin(stretch->connection, "SELECT id, family, type FROM series "
                                                  "WHERE deployment_id = ?1 ORDER BY family, id");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        stretch->sources = rows_grow(stretch->sources, count, sizeof *stretch->sources);
        sql_text(&sql, 2, type, sizeof type);
        stretch->sources[count++] = (struct source){ .series = sql_integer(&sql, 0),
                                                     .family = sql_integer(&sql, 1),
                                                     .counter = strcmp(type, "counter") == 0,
                                                     .before = NAN };
    }
    stretch->source_count = count;
    stretch->by_series = memory_zeroed(count, sizeof(struct source *));
    for (size_t i = 0; i < count; i++)
        stretch->by_series[i] = &stretch->sources[i];
    qsort(stretch->by_series, count, sizeof *stretch->by_series, by_series);
    return step == SQL_DONE;
}

static void make_room(struct stretch *stretch)
{
    double *values = memory_zeroed(stretch->source_count * stretch->count + 1, sizeof *values);

    stretch->at_ms = memory_zeroed(stretch->count, sizeof *stretch->at_ms);
    for (size_t i = 0; i < stretch->source_count * stretch->count; i++)
        values[i] = NAN;
    for (size_t i = 0; i < stretch->source_count; i++)
        stretch->sources[i].values = values + i * stretch->count;
    if (stretch->source_count == 0)
        free(values);
}

/* Puts one scrape's samples to their series: as the index-th of the stretch, or (-1) as what was
 * before it. What is no number is as good as absent. */
static bool take_scrape(struct stretch *stretch, const void *data, size_t length, int64_t index,
                        struct error *error)
{
    FREE_AUTO struct sample *samples = NULL;
    size_t count, at = 0;

    if (!samples_unpack(data, length, &samples, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        while (at < stretch->source_count && stretch->by_series[at]->series < samples[i].series)
            at++;
        if (at == stretch->source_count)
            break;
        struct source *source = stretch->by_series[at];
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

static bool read_before(struct stretch *stretch, struct error *error)
{
    bool found;
    size_t length;
    SQL_AUTO sql =
        sql_begin(stretch->connection, "SELECT at_ms, data FROM samples WHERE deployment_id = ?1 "
                                       "AND at_ms < ?2 ORDER BY at_ms DESC LIMIT 1");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->from_ms);
    stretch->before_ms = -1;
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return true;
    stretch->before_ms = sql_integer(&sql, 0);
    const void *data = sql_blob(&sql, 1, &length);
    return take_scrape(stretch, data, length, -1, error);
}

static bool read_scrapes(struct stretch *stretch, struct error *error)
{
    size_t length, index = 0;
    enum sql_step step;
    SQL_AUTO sql =
        sql_begin(stretch->connection, "SELECT at_ms, data FROM samples WHERE deployment_id = ?1 "
                                       "AND at_ms >= ?2 AND at_ms < ?3 ORDER BY at_ms");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->from_ms);
    sql_bind_integer(&sql, 3, stretch->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW && index < stretch->count) {
        const void *data = sql_blob(&sql, 1, &length);

        stretch->at_ms[index] = sql_integer(&sql, 0);
        if (!take_scrape(stretch, data, length, (int64_t)index, error))
            return false;
        index++;
    }
    return step != SQL_FAILED;
}

bool stretch_read(struct stretch *stretch, struct error *error)
{
    if (!read_sources(stretch, error))
        return false;
    make_room(stretch);
    return read_before(stretch, error) && read_scrapes(stretch, error);
}

void stretch_finish(struct stretch *stretch)
{
    if (stretch->source_count > 0)
        free(stretch->sources[0].values);
    free(stretch->sources);
    free(stretch->by_series);
    free(stretch->at_ms);
}
