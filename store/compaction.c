/* Rolls scrapes up and packs them by series, stretch by stretch. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/block.h"
#include "store/private.h"
#include "store/samples.h"

#define LONG_STRETCH_MS (60 * 60 * 1000LL)
#define SHORT_STRETCH_MS (10 * 60 * 1000LL)
#define SHORT_FROM_ROWS 120 /* in a short stretch: where there are more, stretches are short */
#define GRACE_MS 30000      /* for scrapes that are still under way */

/* What is known of a series, and what it had in the stretch. */
struct source {
    int64_t series, family;
    bool counter, any;
    double before;  /* at the scrape before the stretch; NaN: absent there */
    double *values; /* one per scrape; NaN: absent */
};

struct stretch {
    struct connection *connection;
    int64_t deployment_id, from_ms, to_ms;
    int64_t before_ms; /* of the scrape before; -1: there is none */
    int64_t *at_ms;
    size_t count;
    struct source *sources; /* by family, then series */
    struct source **by_series;
    size_t source_count;
};

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

/* count 0: nothing is due. */
static bool find_stretch(struct stretch *stretch, int64_t now_ms, struct error *error)
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

/* ---- One level of it ---- */

/* The block as it is, and as it becomes. */
struct growth {
    struct stretch *stretch;
    enum scrape_level level;
    int64_t old_id, id; /* old_id 0: the stretch begins a block */
    int64_t from_ms;
    struct block old, block;
    size_t *places; /* where among the block's times each scrape belongs */
};

static bool find_old(struct growth *growth, struct error *error)
{
    struct stretch *stretch = growth->stretch;
    int64_t span_ms = block_span_ms(growth->level), from_ms;
    bool found;
    size_t length;
    SQL_AUTO sql = sql_begin(stretch->connection,
                             "SELECT id, from_ms, data FROM blocks WHERE deployment_id = ?1 "
                             "AND level = ?2 ORDER BY from_ms DESC LIMIT 1");

    growth->from_ms = stretch->from_ms;
    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, growth->level);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return true;
    from_ms = sql_integer(&sql, 1);
    const void *data = sql_blob(&sql, 2, &length);
    if (from_ms / span_ms != stretch->from_ms / span_ms)
        return true;
    if (!block_unpack(data, length, &growth->old, error))
        return false;
    if (growth->old.count >= BLOCK_POINTS) {
        block_finish(&growth->old);
        return true;
    }
    growth->old_id = sql_integer(&sql, 0);
    growth->from_ms = from_ms;
    return true;
}

static void grow_times(struct growth *growth)
{
    const struct stretch *stretch = growth->stretch;
    struct block *block = &growth->block;
    int64_t step_ms = scrape_level_ms(growth->level), before_ms = stretch->before_ms;

    block->count = growth->old.count;
    block->times = memory_zeroed(block->count + stretch->count, sizeof *block->times);
    if (block->count > 0)
        memcpy(block->times, growth->old.times, block->count * sizeof *block->times);
    growth->places = memory_zeroed(stretch->count, sizeof *growth->places);
    for (size_t i = 0; i < stretch->count; i++) {
        int64_t at_ms = stretch->at_ms[i], step_at_ms = at_ms - at_ms % step_ms;

        if (block->count == 0 || block->times[block->count - 1].at_ms != step_at_ms)
            block->times[block->count++].at_ms = step_at_ms;
        growth->places[i] = block->count - 1;
        block->times[block->count - 1].count++;
        if (before_ms >= 0)
            block->times[block->count - 1].covered_ms += (double)(at_ms - before_ms);
        before_ms = at_ms;
    }
}

static void add_points(const struct growth *growth, const struct source *source, struct lane *lane)
{
    const struct stretch *stretch = growth->stretch;
    int64_t before_ms = isnan(source->before) ? -1 : stretch->before_ms;
    double before = source->before;

    for (size_t i = 0; source->any && i < stretch->count; i++) {
        double value = source->values[i];

        if (!isnan(value)) {
            const struct scrape_point point =
                point_of(stretch->at_ms[i], value, source->counter, before_ms, before);
            point_merge(&lane->points[growth->places[i]], &point);
        }
        before_ms = isnan(value) ? -1 : stretch->at_ms[i];
        before = value;
    }
}

static bool read_old_lanes(const struct growth *growth, int64_t family, struct lane **out,
                           size_t *count, struct error *error)
{
    int64_t place = block_place(&growth->old, family);
    size_t length;
    bool found;
    SQL_AUTO sql = sql_begin(growth->stretch->connection, "SELECT data FROM chunks WHERE id = ?1");

    *out = NULL;
    *count = 0;
    if (place < 0)
        return true;
    sql_bind_integer(&sql, 1, growth->old_id * BLOCK_FAMILIES + place);
    if (!sql_find(&sql, &found, error))
        return false;
    const void *data = found ? sql_blob(&sql, 0, &length) : NULL;
    return !found || lanes_unpack(&growth->old, growth->level, data, length, out, count, error);
}

static bool write_lanes(struct growth *growth, int64_t family, const struct lane *lanes,
                        size_t count, struct error *error)
{
    struct block *block = &growth->block;
    TEXT_AUTO data = { 0 };
    SQL_AUTO sql =
        sql_begin(growth->stretch->connection, "INSERT INTO chunks (id, data) VALUES (?1, ?2)");

    if (!lanes_pack(block, growth->level, lanes, count, &data, error))
        return false;
    sql_bind_integer(&sql, 1, growth->id * BLOCK_FAMILIES + (int64_t)block->family_count);
    sql_bind_blob(&sql, 2, data.data, data.length);
    block->families = rows_grow(block->families, block->family_count, sizeof *block->families);
    block->families[block->family_count++] = family;
    return sql_run(&sql, error);
}

static const struct lane *find_lane(const struct lane *lanes, size_t count, int64_t series)
{
    for (size_t i = 0; i < count; i++)
        if (lanes[i].series == series)
            return &lanes[i];
    return NULL;
}

/* The family's lanes with what the stretch adds; series that never had a point are left out. */
static struct lane *grow_lanes(const struct growth *growth, const struct source *sources,
                               size_t count, const struct lane *old, size_t old_count,
                               size_t *grown)
{
    const struct block *block = &growth->block;
    struct lane *lanes = memory_zeroed(count, sizeof *lanes);
    struct scrape_point *points = memory_zeroed(count * block->count, sizeof *points);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct lane *before = find_lane(old, old_count, sources[i].series);
        struct lane *lane = &lanes[kept];

        lane->points = points + kept * block->count;
        if (before == NULL && !sources[i].any)
            continue;
        lane->series = sources[i].series;
        lane->counter = before != NULL ? before->counter : sources[i].counter;
        if (before != NULL)
            memcpy(lane->points, before->points, growth->old.count * sizeof *lane->points);
        add_points(growth, &sources[i], lane);
        kept++;
    }
    *grown = kept;
    return lanes;
}

static bool grow_family(struct growth *growth, const struct source *sources, size_t count,
                        struct error *error)
{
    struct lane *old, *lanes;
    size_t old_count, grown;
    bool ok;

    if (!read_old_lanes(growth, sources[0].family, &old, &old_count, error))
        return false;
    lanes = grow_lanes(growth, sources, count, old, old_count, &grown);
    ok = grown == 0 || write_lanes(growth, sources[0].family, lanes, grown, error);
    lanes_free(old);
    lanes_free(lanes);
    return ok;
}

static bool grow_families(struct growth *growth, struct error *error)
{
    const struct stretch *stretch = growth->stretch;

    for (size_t i = 0, next; i < stretch->source_count; i = next) {
        next = i + 1;
        while (next < stretch->source_count
               && stretch->sources[next].family == stretch->sources[i].family)
            next++;
        if (!grow_family(growth, &stretch->sources[i], next - i, error))
            return false;
    }
    return true;
}

static bool delete_old(const struct growth *growth, struct error *error)
{
    SQL_AUTO sql = sql_begin(growth->stretch->connection, "DELETE FROM blocks WHERE id = ?1");

    sql_bind_integer(&sql, 1, growth->old_id);
    return growth->old_id == 0 || sql_run(&sql, error);
}

static bool insert_block(struct growth *growth, struct error *error)
{
    const struct stretch *stretch = growth->stretch;
    SQL_AUTO sql = sql_begin(stretch->connection,
                             "INSERT INTO blocks (deployment_id, level, from_ms, to_ms, data) "
                             "VALUES (?1, ?2, ?3, ?4, x'')");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, growth->level);
    sql_bind_integer(&sql, 3, growth->from_ms);
    sql_bind_integer(&sql, 4, stretch->to_ms);
    if (!sql_run(&sql, error))
        return false;
    growth->id = sql_inserted(&sql);
    return true;
}

static bool fill_block(const struct growth *growth, struct error *error)
{
    TEXT_AUTO data = { 0 };
    SQL_AUTO sql =
        sql_begin(growth->stretch->connection, "UPDATE blocks SET data = ?2 WHERE id = ?1");

    block_pack(&growth->block, &data);
    sql_bind_integer(&sql, 1, growth->id);
    sql_bind_blob(&sql, 2, data.data, data.length);
    return sql_run(&sql, error);
}

static bool grow_level(struct stretch *stretch, enum scrape_level level, struct error *error)
{
    struct growth growth = { .stretch = stretch, .level = level };
    bool ok = find_old(&growth, error);

    if (ok) {
        grow_times(&growth);
        ok = insert_block(&growth, error) && grow_families(&growth, error)
             && delete_old(&growth, error) && fill_block(&growth, error);
    }
    free(growth.places);
    block_finish(&growth.old);
    block_finish(&growth.block);
    return ok;
}

/* ---- The whole of it ---- */

/* The last scrape stays: the next stretch counts growth from it. */
static bool delete_scrapes(const struct stretch *stretch, struct error *error)
{
    SQL_AUTO sql = sql_begin(stretch->connection, "DELETE FROM samples WHERE deployment_id = ?1 "
                                                  "AND at_ms < ?2");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->at_ms[stretch->count - 1]);
    return sql_run(&sql, error);
}

static bool note_until(const struct stretch *stretch, struct error *error)
{
    SQL_AUTO sql = sql_begin(stretch->connection,
                             "INSERT INTO compacted (deployment_id, until_ms) VALUES (?1, ?2) "
                             "ON CONFLICT (deployment_id) DO UPDATE SET until_ms = ?2");

    sql_bind_integer(&sql, 1, stretch->deployment_id);
    sql_bind_integer(&sql, 2, stretch->to_ms);
    return sql_run(&sql, error);
}

static bool pack_stretch(struct stretch *stretch, struct error *error)
{
    if (!read_sources(stretch, error))
        return false;
    make_room(stretch);
    if (!read_before(stretch, error) || !read_scrapes(stretch, error))
        return false;
    for (int level = 0; level < SCRAPE_LEVELS; level++)
        if (!grow_level(stretch, (enum scrape_level)level, error))
            return false;
    return delete_scrapes(stretch, error) && note_until(stretch, error);
}

struct request {
    int64_t deployment_id, now_ms;
    bool more;
};

static bool apply_stretch(struct connection *connection, void *context, struct error *error)
{
    struct request *request = context;
    struct stretch stretch = { .connection = connection, .deployment_id = request->deployment_id };
    bool ok = find_stretch(&stretch, request->now_ms, error);

    request->more = stretch.count > 0;
    if (ok && stretch.count > 0)
        ok = pack_stretch(&stretch, error);
    if (stretch.source_count > 0)
        free(stretch.sources[0].values);
    free(stretch.sources);
    free(stretch.by_series);
    free(stretch.at_ms);
    return ok;
}

static bool list_deployments(struct store *store, int64_t **out, size_t *count, struct error *error)
{
    enum sql_step step;
    READER_AUTO reader = database_reader(store->scrapes);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT DISTINCT deployment_id FROM samples");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        *out = rows_grow(*out, *count, sizeof **out);
        (*out)[(*count)++] = sql_integer(&sql, 0);
    }
    return step == SQL_DONE;
}

static bool compact_one(struct store *store, int64_t deployment_id, int64_t now_ms,
                        struct error *error)
{
    struct request request = { deployment_id, now_ms, true };

    while (request.more)
        if (!database_write(store->scrapes, apply_stretch, &request, error))
            return false;
    return true;
}

/* One that cannot be rolled up holds up no other; the last such says why. */
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
