#include "store/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/block.h"
#include "store/sql.h"

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

bool growth_write(struct stretch *stretch, enum scrape_level level, struct error *error)
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
