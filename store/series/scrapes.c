/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/scrapes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/ledger/disk_space.h"
#include "store/ledger/store_private.h"
#include "store/series/block.h"
#include "store/series/samples.h"
#include "store/series/series.h"

struct scrape {
    struct series_cache *series;
    int64_t deployment_id, at_ms, epoch;
    /* The values of one scrape, without those whose names or labels are too long. */
    const struct scrape_value **values;
    int64_t *ids; /* parallel to the values; 0: not known yet */
    size_t count;
    uint64_t generation; /* the cache's generation when `ids` was read */
    /* The part that is stored; determined anew each time the transaction runs. */
    const struct scrape_value **kept;
    struct sample *samples; /* parallel to `kept`, followed by `extra` SCRAPE_LEFT_OUT gauges */
    size_t kept_count, extra;
    uint64_t kept_generation;
    struct scrape_left_out *left_out;
};

/* Finds the series of a value, and updates the series' type. *id 0: there is no such series. */
static CHECKED bool series_find(struct sql_connection *connection, int64_t deployment_id,
                                const struct scrape_value *value, int64_t *id, struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "UPDATE series SET type = ?4 WHERE deployment_id = ?1 AND "
                                         "name = ?2 AND labels = ?3 RETURNING id");

    sql_bind_integer(&sql, 1, deployment_id);
    sql_bind_text(&sql, 2, value->name);
    sql_bind_text(&sql, 3, value->labels);
    sql_bind_text(&sql, 4, value->type);
    if (!sql_find(&sql, &found, error))
        return false;
    *id = found ? sql_integer(&sql, 0) : 0;
    return true;
}

static CHECKED bool series_insert(struct sql_connection *connection, int64_t deployment_id,
                                  const struct scrape_value *value, int64_t *id,
                                  struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection,
                  "INSERT INTO series (deployment_id, name, labels, type, family) VALUES (?1, ?2, "
                  "?3, ?4, coalesce((SELECT family FROM series WHERE deployment_id = ?1 AND name = "
                  "?2 LIMIT 1), (SELECT coalesce(max(id), 0) + 1 FROM series))) RETURNING id");

    sql_bind_integer(&sql, 1, deployment_id);
    sql_bind_text(&sql, 2, value->name);
    sql_bind_text(&sql, 3, value->labels);
    sql_bind_text(&sql, 4, value->type);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *id = sql_integer(&sql, 0);
    return true;
}

static CHECKED bool read_number(struct sql_connection *connection, const char *statement,
                                int64_t deployment_id, int64_t *out, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, statement);

    sql_bind_integer(&sql, 1, deployment_id);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

/* Finds or inserts a series; *id 0: it is new and exceeds the limit. *known_count: how many series
 * the deployment has, plus those that were refused in this scrape; -1: not counted yet. */
static CHECKED bool find_or_insert(struct sql_connection *connection, int64_t deployment_id,
                                   const struct scrape_value *value, int64_t *known_count,
                                   int64_t *id, struct error *error)
{
    if (!series_find(connection, deployment_id, value, id, error))
        return false;
    if (*id > 0)
        return true;
    if (*known_count < 0
        && !read_number(connection, "SELECT count(*) FROM series WHERE deployment_id = ?1",
                        deployment_id, known_count, error))
        return false;
    return (*known_count)++ >= SCRAPE_SERIES_LIMIT
           || series_insert(connection, deployment_id, value, id, error);
}

/* Finds the missing ids, inserts new series, and omits those that exceed the limit. If unused
 * series were deleted since the known ids were read from the cache, all ids are looked up again. No
 * series can be deleted while this function runs: series are deleted only on the writer's thread,
 * which also runs this function. */
static CHECKED bool apply_series(struct sql_connection *connection, struct scrape *scrape,
                                 struct error *error)
{
    int64_t known_count = -1;

    scrape->kept_generation = series_cache_generation(scrape->series);
    scrape->kept_count = 0;
    scrape->left_out->by_deployment = 0;
    for (size_t i = 0; i < scrape->count; i++) {
        const struct scrape_value *value = scrape->values[i];
        int64_t id = scrape->kept_generation == scrape->generation ? scrape->ids[i] : 0;

        if (id == 0
            && !find_or_insert(connection, scrape->deployment_id, value, &known_count, &id, error))
            return false;
        if (id == 0) {
            scrape->left_out->by_deployment++;
            continue;
        }
        scrape->kept[scrape->kept_count] = value;
        scrape->samples[scrape->kept_count++] = (struct sample){ id, value->value };
    }
    return true;
}

/* ---- Omitted samples ---- */

static const struct limit {
    const char *labels;
    size_t offset; /* offset into struct scrape_left_out */
} limits[] = {
    { "limit=\"page\"", offsetof(struct scrape_left_out, by_page) },
    { "limit=\"deployment\"", offsetof(struct scrape_left_out, by_deployment) },
    { "limit=\"length\"", offsetof(struct scrape_left_out, by_length) },
};
#define LIMITS (sizeof limits / sizeof limits[0])

static size_t *number_of(struct scrape_left_out *left_out, const struct limit *limit)
{
    return (size_t *)(void *)((char *)left_out + limit->offset);
}

/* Adds a gauge named SCRAPE_LEFT_OUT for each limit that this scrape or an earlier one exceeded.
 * The gauges are stored even if the deployment has SCRAPE_SERIES_LIMIT series. */
static CHECKED bool apply_left_out(struct sql_connection *connection, struct scrape *scrape,
                                   struct error *error)
{
    scrape->extra = 0;
    scrape->left_out->is_first = false;
    for (size_t i = 0; i < LIMITS; i++) {
        double number = (double)*number_of(scrape->left_out, &limits[i]);
        const struct scrape_value value = { SCRAPE_LEFT_OUT, limits[i].labels, "gauge", number };
        int64_t id;

        if (!series_find(connection, scrape->deployment_id, &value, &id, error))
            return false;
        if (id == 0 && number == 0)
            continue;
        scrape->left_out->is_first |= id == 0;
        if (id == 0 && !series_insert(connection, scrape->deployment_id, &value, &id, error))
            return false;
        scrape->samples[scrape->kept_count + scrape->extra++] = (struct sample){ id, number };
    }
    return true;
}

/* Chooses the gauges named SCRAPE_LEFT_OUT. The tag is the position of the gauge's limit in
 * `limits`. */
static bool is_limit(void *context, const struct scrape_series *series, size_t *tag)
{
    (void)context;
    for (*tag = 0; *tag < LIMITS; (*tag)++)
        if (strcmp(series->labels, limits[*tag].labels) == 0)
            return true;
    return false;
}

static void keep_highest(void *context, size_t tag, const struct scrape_point *point)
{
    size_t *number = number_of(context, &limits[tag]);

    if (point->max > (double)*number)
        *number = (size_t)point->max;
}

bool scrape_left_out_read(struct store *store, const struct scrape_range *range,
                          enum scrape_level level, struct scrape_left_out *out, struct error *error)
{
    struct scrape_left_out most = { 0 };
    const struct scrape_visitor visitor = { is_limit, keep_highest, &most };
    struct scrape_range gauge_range = *range;

    gauge_range.name = SCRAPE_LEFT_OUT;
    if (!scrape_visit(store, &gauge_range, level, &visitor, error))
        return false;
    *out = most;
    return true;
}

/* ---- A scrape ---- */

/* After the clock was set back, new scrapes are rolled up among scrapes that were rolled up before.
 * The last scrape that was rolled up is still in `samples`, where it was kept so that growth could
 * be counted from it. It is deleted, so that it is not rolled up twice. */
static CHECKED bool go_back(struct sql_connection *connection, const struct scrape *scrape,
                            int64_t until_ms, struct error *error)
{
    SQL_AUTO forget =
        sql_begin(connection, "DELETE FROM samples WHERE deployment_id = ?1 AND at_ms < ?2");
    SQL_AUTO mark =
        sql_begin(connection, "UPDATE compacted SET until_ms = ?2 WHERE deployment_id = ?1");

    sql_bind_integer(&forget, 1, scrape->deployment_id);
    sql_bind_integer(&forget, 2, until_ms);
    sql_bind_integer(&mark, 1, scrape->deployment_id);
    sql_bind_integer(&mark, 2, scrape->at_ms - scrape->at_ms % BLOCK_EARLY_MS);
    return sql_run(&forget, error) && sql_run(&mark, error);
}

/* Determines the scrape's epoch: a new epoch begins if the clock was set back since the last
 * scrape. */
static CHECKED bool begin_scrape(struct sql_connection *connection, struct scrape *scrape,
                                 struct error *error)
{
    static const char LAST[] =
        "INSERT INTO compacted (deployment_id, until_ms, last_ms) VALUES (?1, 0, ?2) "
        "ON CONFLICT (deployment_id) DO UPDATE SET last_ms = ?2, "
        "epoch = compacted.epoch + CASE WHEN compacted.last_ms > ?2 THEN 1 ELSE 0 END RETURNING "
        "epoch, until_ms";
    int64_t until_ms;
    bool found;
    SQL_AUTO sql = sql_begin(connection, LAST);

    sql_bind_integer(&sql, 1, scrape->deployment_id);
    sql_bind_integer(&sql, 2, scrape->at_ms);
    if (!sql_find(&sql, &found, error))
        return false;
    scrape->epoch = sql_integer(&sql, 0);
    until_ms = sql_integer(&sql, 1);
    return scrape->at_ms >= until_ms || go_back(connection, scrape, until_ms, error);
}

static CHECKED bool apply_scrape(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct scrape *scrape = context;
    FREE_AUTO void *data = NULL;
    size_t length;
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO samples (deployment_id, at_ms, data, epoch) "
                                         "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (deployment_id, "
                                         "at_ms) DO UPDATE SET data = ?3, epoch = ?4");

    if (!begin_scrape(connection, scrape, error) || !apply_series(connection, scrape, error)
        || !apply_left_out(connection, scrape, error))
        return false;
    samples_pack(scrape->samples, scrape->kept_count + scrape->extra, &data, &length);
    sql_bind_integer(&sql, 1, scrape->deployment_id);
    sql_bind_integer(&sql, 2, scrape->at_ms);
    sql_bind_blob(&sql, 3, data, length);
    sql_bind_integer(&sql, 4, scrape->epoch);
    return sql_run(&sql, error);
}

static bool fits(const struct scrape_value *value)
{
    return strlen(value->name) < SCRAPE_NAME_SIZE && strlen(value->labels) < SCRAPE_LABELS_SIZE;
}

/* Selects the values that fit, with their ids if these are known; returns how many ids are not
 * known. */
static size_t select_values(struct scrape *scrape, const struct scrape_value *values, size_t count)
{
    size_t unknown_count = 0;

    scrape->generation = series_cache_generation(scrape->series);
    for (size_t i = 0; i < count; i++) {
        if (!fits(&values[i])) {
            scrape->left_out->by_length++;
            continue;
        }
        int64_t id = series_cache_find(scrape->series, scrape->deployment_id, values[i].name,
                                       values[i].labels);
        unknown_count += id == 0;
        scrape->values[scrape->count] = &values[i];
        scrape->ids[scrape->count++] = id;
    }
    return unknown_count;
}

bool scrape_add(struct store *store, int64_t deployment_id, int64_t at_ms,
                const struct scrape_value *values, size_t count, struct scrape_left_out *left_out,
                struct error *error)
{
    FREE_AUTO const struct scrape_value **selected = memory_zeroed(count, sizeof *selected);
    FREE_AUTO const struct scrape_value **kept = memory_zeroed(count, sizeof *kept);
    FREE_AUTO int64_t *ids = memory_zeroed(count, sizeof *ids);
    FREE_AUTO struct sample *samples = memory_zeroed(count + LIMITS, sizeof *samples);
    struct scrape_left_out ignored = { 0 };
    struct scrape scrape = { .series = store->series,
                             .deployment_id = deployment_id,
                             .at_ms = at_ms,
                             .values = selected,
                             .ids = ids,
                             .kept = kept,
                             .samples = samples,
                             .left_out = left_out != NULL ? left_out : &ignored };

    size_t unknown_count = select_values(&scrape, values, count);
    if (!disk_space_check(store, error)
        || !database_write(store->scrapes, apply_scrape, &scrape, error))
        return false;
    for (size_t i = 0; unknown_count > 0 && i < scrape.kept_count; i++)
        series_cache_add(store->series, scrape.kept_generation, deployment_id, kept[i]->name,
                         kept[i]->labels, samples[i].series);
    return scrape_note(store, deployment_id, at_ms, NULL, error);
}

bool scrape_type(struct store *store, int64_t deployment_id, const char *name, char type[16],
                 struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->scrapes);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT type FROM series WHERE deployment_id = ?1 "
                                                "AND name = ?2 LIMIT 1");

    sql_bind_integer(&sql, 1, deployment_id);
    sql_bind_text(&sql, 2, name);
    if (!sql_find(&sql, &found, error))
        return false;
    type[0] = '\0';
    if (found)
        sql_text(&sql, 0, type, 16);
    return true;
}

bool scrape_names(struct store *store, int64_t deployment_id, char (**out)[128], size_t *count,
                  struct error *error)
{
    char(*names)[128] = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->scrapes);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT DISTINCT name FROM series "
                                                "WHERE deployment_id = ?1 ORDER BY name");

    sql_bind_integer(&sql, 1, deployment_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        names = sql_rows_grow(names, length, sizeof *names);
        sql_text(&sql, 0, names[length++], sizeof *names);
    }
    if (step == SQL_FAILED) {
        free(names);
        return false;
    }
    *out = names;
    *count = length;
    return true;
}
