#include "store/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/sql.h"

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
                point_of(stretch->at_ms[i], value, lane->counter, before_ms, before);
            point_merge(&lane->points[growth->places[i]], &point);
        }
        before_ms = isnan(value) ? -1 : stretch->at_ms[i];
        before = value;
    }
}

/* ---- Family by family, series by series ---- */

static bool begin_family(struct growth *growth, int64_t family, struct error *error)
{
    family_reader_end(&growth->reader);
    growth->reader = family_reader_begin(growth->stretch->connection, growth->old_id, &growth->old,
                                         growth->level, family);
    return family_reader_next(&growth->reader, &growth->before, error);
}

/* What the block has of the series so far; NULL: nothing. */
static bool find_before(struct growth *growth, const struct source *source, const struct lane **out,
                        struct error *error)
{
    if (growth->reader.family != source->family && !begin_family(growth, source->family, error))
        return false;
    while (growth->before != NULL && growth->before->series < source->series)
        if (!family_reader_next(&growth->reader, &growth->before, error))
            return false;
    *out =
        growth->before != NULL && growth->before->series == source->series ? growth->before : NULL;
    return true;
}

bool growth_add(struct growth *growth, const struct source *source, struct error *error)
{
    const struct block *block = &growth->block;
    struct lane lane = { source->series, source->counter, growth->points };
    const struct lane *before;

    if (!find_before(growth, source, &before, error))
        return false;
    if (before == NULL && !source->any)
        return true;
    memset(lane.points, 0, block->count * sizeof *lane.points);
    if (before != NULL) {
        lane.counter = before->counter;
        memcpy(lane.points, before->points, growth->old.count * sizeof *lane.points);
    }
    add_points(growth, source, &lane);
    return family_writer_add(&growth->writer, source->family, &lane, error);
}

/* ---- Its beginning and end ---- */

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

bool growth_begin(struct growth *growth, struct stretch *stretch, enum scrape_level level,
                  struct error *error)
{
    *growth = (struct growth){ .stretch = stretch, .level = level };
    if (!find_old(growth, error))
        return false;
    grow_times(growth);
    if (!insert_block(growth, error))
        return false;
    growth->points = memory_zeroed(growth->block.count, sizeof *growth->points);
    growth->writer = family_writer_begin(stretch->connection, growth->id, &growth->block, level);
    return true;
}

bool growth_end(struct growth *growth, struct error *error)
{
    return family_writer_flush(&growth->writer, error) && delete_old(growth, error)
           && fill_block(growth, error);
}

void growth_finish(struct growth *growth)
{
    family_reader_end(&growth->reader);
    family_writer_end(&growth->writer);
    free(growth->points);
    free(growth->places);
    block_finish(&growth->old);
    block_finish(&growth->block);
}
