#include "store/scrapes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "store/private.h"
#include "store/samples.h"
#include "store/series.h"

struct targeting {
    int64_t deployment_id, interval_ms;
    char name[64];
};

static bool read_name(struct connection *connection, struct targeting *targeting,
                      struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT name FROM deployments WHERE id = ?1");

    sql_bind_integer(&sql, 1, targeting->deployment_id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND, "there is no deployment %lld",
                         (long long)targeting->deployment_id);
    sql_text(&sql, 0, targeting->name, sizeof targeting->name);
    return true;
}

static bool apply_target(struct connection *connection, void *context, struct error *error)
{
    struct targeting *targeting = context;
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO scrape_targets (deployment_id, interval_ms) VALUES (?1, "
                              "?2) ON CONFLICT (deployment_id) DO UPDATE SET interval_ms = ?2");

    if (!read_name(connection, targeting, error))
        return false;
    sql_bind_integer(&sql, 1, targeting->deployment_id);
    sql_bind_integer(&sql, 2, targeting->interval_ms);
    return sql_run(&sql, error);
}

bool scrape_target_set(struct store *store, int64_t deployment_id, int64_t interval_ms,
                       struct change *change, struct error *error)
{
    struct targeting targeting = { .deployment_id = deployment_id, .interval_ms = interval_ms };

    return store_change(store, change, apply_target, &targeting, targeting.name, "", error);
}

bool scrape_target_list(struct store *store, struct scrape_target **out, size_t *count,
                        struct error *error)
{
    struct scrape_target *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             "SELECT t.deployment_id, t.interval_ms, t.last_ms, t.last_error "
                             "FROM scrape_targets t JOIN deployments d ON d.id = t.deployment_id "
                             "WHERE d.retired_ms IS NULL ORDER BY t.deployment_id");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = rows_grow(rows, length, sizeof *rows);
        rows[length] = (struct scrape_target){
            .deployment_id = sql_integer(&sql, 0),
            .interval_ms = sql_integer(&sql, 1),
            .last_ms = sql_integer(&sql, 2),
        };
        sql_text(&sql, 3, rows[length].last_error, sizeof rows[length].last_error);
        length++;
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

/* How the last scrape went, for the target: in the other database, soon. */
struct outcome {
    int64_t deployment_id, at_ms;
    char error[256];
};

static bool apply_outcome(struct connection *connection, void *context, struct error *error)
{
    const struct outcome *outcome = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE scrape_targets SET last_ms = ?2, last_error = ?3 "
                                         "WHERE deployment_id = ?1");

    sql_bind_integer(&sql, 1, outcome->deployment_id);
    sql_bind_integer(&sql, 2, outcome->at_ms);
    sql_bind_text(&sql, 3, outcome->error);
    return sql_run(&sql, error);
}

static bool note_outcome(struct store *store, int64_t deployment_id, int64_t at_ms,
                         const char *scrape_error, struct error *error)
{
    struct outcome *outcome = memory_zeroed(1, sizeof *outcome);

    outcome->deployment_id = deployment_id;
    outcome->at_ms = at_ms;
    text_copy(outcome->error, sizeof outcome->error, scrape_error == NULL ? "" : scrape_error);
    return database_defer_take(store->main, apply_outcome, outcome, free, error);
}

struct scrape {
    struct series_cache *series;
    int64_t deployment_id, at_ms;
    const struct scrape_value **values;
    struct sample *samples; /* beside the values; series 0: not known yet */
    size_t count;
};

static bool series_insert(struct connection *connection, int64_t deployment_id,
                          const struct scrape_value *value, int64_t *id, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection,
                  "INSERT INTO series (deployment_id, name, labels, type, family) VALUES (?1, ?2, "
                  "?3, ?4, coalesce((SELECT family FROM series WHERE deployment_id = ?1 AND name = "
                  "?2 LIMIT 1), (SELECT coalesce(max(id), 0) + 1 FROM series))) "
                  "ON CONFLICT DO UPDATE SET type = excluded.type RETURNING id");

    sql_bind_integer(&sql, 1, deployment_id);
    sql_bind_text(&sql, 2, value->name);
    sql_bind_text(&sql, 3, value->labels);
    sql_bind_text(&sql, 4, value->type);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *id = sql_integer(&sql, 0);
    return true;
}

static bool read_number(struct connection *connection, const char *statement, int64_t deployment_id,
                        int64_t *out, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, statement);

    sql_bind_integer(&sql, 1, deployment_id);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = sql_integer(&sql, 0);
    return true;
}

/* Gives ids to the series that have none, and leaves out what is beyond the limit. */
static bool apply_series(struct connection *connection, struct scrape *scrape, struct error *error)
{
    size_t kept = 0;
    int64_t known = -1;

    for (size_t i = 0; i < scrape->count; i++) {
        int64_t *id = &scrape->samples[i].series;

        if (*id == 0 && known < 0
            && !read_number(connection, "SELECT count(*) FROM series WHERE deployment_id = ?1",
                            scrape->deployment_id, &known, error))
            return false;
        if (*id == 0 && known >= SCRAPE_SERIES_LIMIT)
            continue;
        if (*id == 0
            && !series_insert(connection, scrape->deployment_id, scrape->values[i], id, error))
            return false;
        known += known >= 0;
        scrape->values[kept] = scrape->values[i];
        scrape->samples[kept++] = scrape->samples[i];
    }
    scrape->count = kept;
    return true;
}

/* Rolled up is rolled up: what comes with an older time (a clock that was set back) has no place.
 */
static bool check_time(struct connection *connection, const struct scrape *scrape,
                       struct error *error)
{
    int64_t until_ms;

    if (!read_number(connection,
                     "SELECT coalesce(max(until_ms), 0) FROM compacted WHERE deployment_id = ?1",
                     scrape->deployment_id, &until_ms, error))
        return false;
    return scrape->at_ms >= until_ms
           || error_set(error, ERROR_CONFLICT,
                        "the scrape's time is %lld s before what is rolled up already: set the "
                        "clock of this machine right",
                        (long long)(until_ms - scrape->at_ms) / 1000);
}

static bool apply_scrape(struct connection *connection, void *context, struct error *error)
{
    struct scrape *scrape = context;
    FREE_AUTO void *data = NULL;
    size_t length;
    SQL_AUTO sql = sql_begin(connection, "INSERT OR REPLACE INTO samples (deployment_id, at_ms, "
                                         "data) VALUES (?1, ?2, ?3)");

    if (!check_time(connection, scrape, error) || !apply_series(connection, scrape, error))
        return false;
    samples_pack(scrape->samples, scrape->count, &data, &length);
    sql_bind_integer(&sql, 1, scrape->deployment_id);
    sql_bind_integer(&sql, 2, scrape->at_ms);
    sql_bind_blob(&sql, 3, data, length);
    return sql_run(&sql, error);
}

static bool fits(const struct scrape_value *value)
{
    const struct scrape_series *limits = NULL;

    return strlen(value->name) < sizeof limits->name
           && strlen(value->labels) < sizeof limits->labels;
}

/* Fills in what fits, with the ids that are known; how many are not. */
static size_t take_values(struct scrape *scrape, const struct scrape_value *values, size_t count)
{
    size_t unknown = 0;

    for (size_t i = 0; i < count; i++) {
        if (!fits(&values[i]))
            continue;
        int64_t id = series_cache_find(scrape->series, scrape->deployment_id, values[i].name,
                                       values[i].labels);
        unknown += id == 0;
        scrape->values[scrape->count] = &values[i];
        scrape->samples[scrape->count++] = (struct sample){ id, values[i].value };
    }
    return unknown;
}

bool scrape_add(struct store *store, int64_t deployment_id, int64_t at_ms,
                const struct scrape_value *values, size_t count, const char *scrape_error,
                struct error *error)
{
    FREE_AUTO const struct scrape_value **kept = memory_zeroed(count, sizeof *kept);
    FREE_AUTO struct sample *samples = memory_zeroed(count, sizeof *samples);
    struct scrape scrape = { store->series, deployment_id, at_ms, kept, samples, 0 };

    if (scrape_error != NULL)
        return note_outcome(store, deployment_id, at_ms, scrape_error, error);
    size_t unknown = take_values(&scrape, values, count);
    if (!database_write(store->scrapes, apply_scrape, &scrape, error))
        return false;
    for (size_t i = 0; unknown > 0 && i < scrape.count; i++)
        series_cache_add(store->series, deployment_id, kept[i]->name, kept[i]->labels,
                         samples[i].series);
    return note_outcome(store, deployment_id, at_ms, NULL, error);
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
        names = rows_grow(names, length, sizeof *names);
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
