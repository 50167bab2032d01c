/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/rollup_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/sql.h"

static int64_t step_of(const struct rollup_writer *growth, size_t scrape)
{
    int64_t at_ms = growth->window->at_ms[scrape];

    return at_ms - at_ms % scrape_level_ms(growth->level);
}

/* Returns whether the old block must not grow: it is full and the window follows it, or both
 * together have more points than a block may have. */
static bool is_closed(const struct rollup_writer *growth)
{
    const struct block *old = &growth->old;
    bool follows = old->count == 0 || old->times[old->count - 1].at_ms <= step_of(growth, 0);

    return (follows && old->count >= BLOCK_POINTS)
           || old->count + growth->window->count > BLOCK_POINTS_LIMIT;
}

/* Reads the last block before the window's end, which grows unless it is closed. */
static CHECKED bool read_old(struct rollup_writer *growth, const struct sql *sql,
                             struct error *error)
{
    const struct rollup_window *window = growth->window;
    int64_t span_ms = block_span_ms(growth->level);
    int64_t from_ms = sql_integer(sql, 1), to_ms = sql_integer(sql, 2);
    size_t length;
    const void *data = sql_blob(sql, 3, &length);

    if (from_ms / span_ms != window->from_ms / span_ms)
        return true;
    if (!block_unpack(data, length, &growth->old, error))
        return false;
    if (is_closed(growth)) {
        block_finish(&growth->old);
        return true;
    }
    growth->old_id = sql_integer(sql, 0);
    growth->from_ms = from_ms < window->from_ms ? from_ms : window->from_ms;
    growth->to_ms = to_ms > window->to_ms ? to_ms : window->to_ms;
    return true;
}

static CHECKED bool find_old(struct rollup_writer *growth, struct error *error)
{
    struct rollup_window *window = growth->window;
    bool found;
    SQL_AUTO sql =
        sql_begin(window->connection, "SELECT id, from_ms, to_ms, data FROM blocks WHERE "
                                      "deployment_id = ?1 AND level = ?2 AND from_ms < ?3 "
                                      "ORDER BY from_ms DESC LIMIT 1");

    growth->from_ms = window->from_ms;
    growth->to_ms = window->to_ms;
    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, growth->level);
    sql_bind_integer(&sql, 3, window->to_ms);
    return sql_find(&sql, &found, error) && (!found || read_old(growth, &sql, error));
}

/* Adds a time at the end of the block's times, unless it is the last one already; returns its
 * position. */
static size_t place_last(struct block *block, int64_t step_at_ms)
{
    if (block->count == 0 || block->times[block->count - 1].at_ms != step_at_ms)
        block->times[block->count++].at_ms = step_at_ms;
    return block->count - 1;
}

/* Merges the old block's times and the window's new steps, in order. */
static void merge_times(struct rollup_writer *growth)
{
    const struct rollup_window *window = growth->window;
    const struct block *old = &growth->old;
    struct block *block = &growth->block;
    size_t i = 0, j = 0;

    while (i < old->count || j < window->count) {
        if (j == window->count || (i < old->count && old->times[i].at_ms <= step_of(growth, j))) {
            size_t place = place_last(block, old->times[i].at_ms);

            block->times[place] = old->times[i];
            growth->old_places[i++] = place;
        } else {
            growth->places[j] = place_last(block, step_of(growth, j));
            j++;
        }
    }
}

static void grow_times(struct rollup_writer *growth)
{
    const struct rollup_window *window = growth->window;
    struct block *block = &growth->block;
    int64_t before_ms = window->before_ms;

    block->times = memory_zeroed(growth->old.count + window->count, sizeof *block->times);
    growth->old_places = memory_zeroed(growth->old.count, sizeof *growth->old_places);
    growth->places = memory_zeroed(window->count, sizeof *growth->places);
    merge_times(growth);
    for (size_t i = 0; i < window->count; i++) {
        struct scrape_point *step = &block->times[growth->places[i]];

        step->count++;
        if (window->follows[i])
            step->covered_ms += (double)(window->at_ms[i] - before_ms);
        before_ms = window->at_ms[i];
    }
}

static void add_points(const struct rollup_writer *growth, const struct source *source,
                       struct lane *lane)
{
    const struct rollup_window *window = growth->window;
    int64_t before_ms = isnan(source->before) ? -1 : window->before_ms;
    double before = source->before;

    for (size_t i = 0; source->any && i < window->count; i++) {
        double value = source->values[i];

        if (!window->follows[i])
            before_ms = -1;
        if (!isnan(value)) {
            const struct scrape_point point =
                block_point_of(window->at_ms[i], value, lane->counter, before_ms, before);
            block_point_merge(&lane->points[growth->places[i]], &point);
        }
        before_ms = isnan(value) ? -1 : window->at_ms[i];
        before = value;
    }
}

/* ---- Family by family, series by series ---- */

static CHECKED bool begin_family(struct rollup_writer *growth, int64_t family, struct error *error)
{
    family_reader_end(&growth->reader);
    growth->reader = family_reader_begin(growth->window->connection, growth->old_id, &growth->old,
                                         growth->level, family);
    return family_reader_next(&growth->reader, &growth->before, error);
}

/* Finds the series' lane in the old block; *out NULL: there is none. */
static CHECKED bool find_before(struct rollup_writer *growth, const struct source *source,
                                const struct lane **out, struct error *error)
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

bool rollup_writer_add(struct rollup_writer *growth, const struct source *source,
                       struct error *error)
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
        for (size_t i = 0; i < growth->old.count; i++)
            lane.points[growth->old_places[i]] = before->points[i];
    }
    add_points(growth, source, &lane);
    return family_writer_add(&growth->writer, source->family, &lane, error);
}

/* ---- Beginning and end ---- */

static CHECKED bool delete_old(const struct rollup_writer *growth, struct error *error)
{
    SQL_AUTO sql = sql_begin(growth->window->connection, "DELETE FROM blocks WHERE id = ?1");

    sql_bind_integer(&sql, 1, growth->old_id);
    return growth->old_id == 0 || sql_run(&sql, error);
}

static CHECKED bool insert_block(struct rollup_writer *growth, struct error *error)
{
    const struct rollup_window *window = growth->window;
    SQL_AUTO sql = sql_begin(window->connection,
                             "INSERT INTO blocks (deployment_id, level, from_ms, to_ms, data) "
                             "VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, growth->level);
    sql_bind_integer(&sql, 3, growth->from_ms);
    sql_bind_integer(&sql, 4, growth->to_ms);
    sql_bind_blob(&sql, 5, "", 0); /* filled at the end */
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    growth->id = sql_integer(&sql, 0);
    return true;
}

static CHECKED bool fill_block(const struct rollup_writer *growth, struct error *error)
{
    TEXT_AUTO data = { 0 };
    SQL_AUTO sql =
        sql_begin(growth->window->connection, "UPDATE blocks SET data = ?2 WHERE id = ?1");

    block_pack(&growth->block, &data);
    sql_bind_integer(&sql, 1, growth->id);
    sql_bind_blob(&sql, 2, data.data, data.length);
    return sql_run(&sql, error);
}

bool rollup_writer_begin(struct rollup_writer *growth, struct rollup_window *window,
                         enum scrape_level level, struct error *error)
{
    *growth = (struct rollup_writer){ .window = window, .level = level };
    if (!find_old(growth, error))
        return false;
    grow_times(growth);
    if (!insert_block(growth, error))
        return false;
    growth->points = memory_zeroed(growth->block.count, sizeof *growth->points);
    growth->writer = family_writer_begin(window->connection, growth->id, &growth->block, level);
    return true;
}

bool rollup_writer_end(struct rollup_writer *growth, struct error *error)
{
    return family_writer_flush(&growth->writer, error) && delete_old(growth, error)
           && fill_block(growth, error);
}

void rollup_writer_finish(struct rollup_writer *growth)
{
    family_reader_end(&growth->reader);
    family_writer_end(&growth->writer);
    free(growth->points);
    free(growth->old_places);
    free(growth->places);
    block_finish(&growth->old);
    block_finish(&growth->block);
}
