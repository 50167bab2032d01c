/* Reads stored scrapes back as series over time. */
#include <stdlib.h>

#include "base/memory.h"
#include "store/private.h"
#include "store/samples.h"
#include "store/scrapes.h"

/* The series asked for, by ascending id. */
struct selection {
    int64_t *ids;
    struct scrape_series *series;
    size_t count;
};

static bool select_series(struct connection *connection, int64_t deployment_id, const char *name,
                          struct selection *selection, struct error *error)
{
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT id, name, labels, type FROM series "
                                         "WHERE deployment_id = ?1 AND name = ?2 ORDER BY id");

    sql_bind_integer(&sql, 1, deployment_id);
    sql_bind_text(&sql, 2, name);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        size_t n = selection->count;

        selection->ids = rows_grow(selection->ids, n, sizeof *selection->ids);
        selection->series = rows_grow(selection->series, n, sizeof *selection->series);
        selection->ids[n] = sql_integer(&sql, 0);
        selection->series[n] = (struct scrape_series){ 0 };
        sql_text(&sql, 1, selection->series[n].name, sizeof selection->series[n].name);
        sql_text(&sql, 2, selection->series[n].labels, sizeof selection->series[n].labels);
        sql_text(&sql, 3, selection->series[n].type, sizeof selection->series[n].type);
        selection->count++;
    }
    return step == SQL_DONE;
}

struct span {
    int64_t deployment_id, from_ms, to_ms;
    size_t max_points;
};

static void bind_span(struct sql *sql, const struct span *span)
{
    sql_bind_integer(sql, 1, span->deployment_id);
    sql_bind_integer(sql, 2, span->from_ms);
    sql_bind_integer(sql, 3, span->to_ms);
}

static bool count_scrapes(struct connection *connection, const struct span *span, int64_t *count,
                          struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT count(*) FROM samples WHERE deployment_id = ?1 "
                                         "AND at_ms BETWEEN ?2 AND ?3");

    bind_span(&sql, span);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *count = sql_integer(&sql, 0);
    return true;
}

static void add_point(struct scrape_series *series, int64_t at_ms, double value)
{
    series->points = rows_grow(series->points, series->count, sizeof *series->points);
    series->points[series->count++] = (struct scrape_point){ at_ms, value };
}

/* Both are ascending by id. */
static bool add_points(struct selection *selection, int64_t at_ms, const void *data, size_t length,
                       struct error *error)
{
    FREE_AUTO struct sample *samples = NULL;
    size_t count, wanted = 0;

    if (!samples_unpack(data, length, &samples, &count, error))
        return false;
    for (size_t i = 0; i < count && wanted < selection->count; i++) {
        while (wanted < selection->count && selection->ids[wanted] < samples[i].series)
            wanted++;
        if (wanted < selection->count && selection->ids[wanted] == samples[i].series)
            add_point(&selection->series[wanted], at_ms, samples[i].value);
    }
    return true;
}

static bool read_points(struct connection *connection, const struct span *span,
                        struct selection *selection, struct error *error)
{
    int64_t scrapes, index = 0, stride;
    size_t length;
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT at_ms, data FROM samples WHERE deployment_id = ?1 "
                                         "AND at_ms BETWEEN ?2 AND ?3 ORDER BY at_ms");

    if (!count_scrapes(connection, span, &scrapes, error))
        return false;
    int64_t limit = span->max_points == 0 ? 1 : (int64_t)span->max_points;
    stride = (scrapes + limit - 1) / limit;
    bind_span(&sql, span);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        if ((scrapes - 1 - index++) % (stride == 0 ? 1 : stride) != 0)
            continue;
        const void *data = sql_blob(&sql, 1, &length);
        if (!add_points(selection, sql_integer(&sql, 0), data, length, error))
            return false;
    }
    return step == SQL_DONE;
}

static void drop_empty(struct selection *selection)
{
    size_t kept = 0;

    for (size_t i = 0; i < selection->count; i++)
        if (selection->series[i].count > 0)
            selection->series[kept++] = selection->series[i];
    selection->count = kept;
}

bool scrape_history(struct store *store, int64_t deployment_id, const char *name, int64_t from_ms,
                    int64_t to_ms, size_t max_points, struct scrape_series **out, size_t *count,
                    struct error *error)
{
    struct span span = { deployment_id, from_ms, to_ms, max_points };
    struct selection selection = { 0 };
    READER_AUTO reader = database_reader(store->scrapes);
    bool ok = select_series(reader.connection, deployment_id, name, &selection, error)
              && (selection.count == 0 || read_points(reader.connection, &span, &selection, error));

    free(selection.ids);
    if (!ok) {
        scrape_series_free(selection.series, selection.count);
        return false;
    }
    drop_empty(&selection);
    *out = selection.series;
    *count = selection.count;
    return true;
}

void scrape_series_free(struct scrape_series *series, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(series[i].points);
    free(series);
}
