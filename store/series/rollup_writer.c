/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/rollup_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/sql.h"

static int64_t step_start_ms(const struct rollup_writer *writer, size_t scrape)
{
    int64_t at_ms = writer->window->at_ms[scrape];

    return at_ms - at_ms % scrape_level_ms(writer->level);
}

/* Returns whether the old block must not grow, because it is full and the window comes after it, or
 * because the two together could exceed BLOCK_POINTS_LIMIT. */
static bool is_closed(const struct rollup_writer *writer)
{
    const struct block *old = &writer->old;
    bool comes_after =
        old->count == 0 || old->times[old->count - 1].at_ms <= step_start_ms(writer, 0);

    return (comes_after && old->count >= BLOCK_POINTS)
           || old->count + writer->window->count > BLOCK_POINTS_LIMIT;
}

/* Reads the last block that begins before the window's end. The window is added to it unless the
 * block belongs to an earlier span or is closed. */
static CHECKED bool read_old(struct rollup_writer *writer, const struct sql *sql,
                             struct error *error)
{
    const struct rollup_window *window = writer->window;
    int64_t span_ms = block_span_ms(writer->level);
    int64_t from_ms = sql_integer(sql, 1), to_ms = sql_integer(sql, 2);
    size_t length;
    const void *data = sql_blob(sql, 3, &length);

    if (from_ms / span_ms != window->from_ms / span_ms)
        return true;
    if (!block_unpack(data, length, &writer->old, error))
        return false;
    if (is_closed(writer)) {
        block_finish(&writer->old);
        return true;
    }
    writer->old_id = sql_integer(sql, 0);
    writer->from_ms = from_ms < window->from_ms ? from_ms : window->from_ms;
    writer->to_ms = to_ms > window->to_ms ? to_ms : window->to_ms;
    return true;
}

static CHECKED bool find_old(struct rollup_writer *writer, struct error *error)
{
    struct rollup_window *window = writer->window;
    bool found;
    SQL_AUTO sql =
        sql_begin(window->connection, "SELECT id, from_ms, to_ms, data FROM blocks WHERE "
                                      "deployment_id = ?1 AND level = ?2 AND from_ms < ?3 "
                                      "ORDER BY from_ms DESC LIMIT 1");

    writer->from_ms = window->from_ms;
    writer->to_ms = window->to_ms;
    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, writer->level);
    sql_bind_integer(&sql, 3, window->to_ms);
    return sql_find(&sql, &found, error) && (!found || read_old(writer, &sql, error));
}

/* Appends a time to the block's times, unless it is already the last one; returns its position. */
static size_t place_last(struct block *block, int64_t step_at_ms)
{
    if (block->count == 0 || block->times[block->count - 1].at_ms != step_at_ms)
        block->times[block->count++].at_ms = step_at_ms;
    return block->count - 1;
}

/* Merges the old block's times and the steps of the window's scrapes, in ascending order. */
static void merge_times(struct rollup_writer *writer)
{
    const struct rollup_window *window = writer->window;
    const struct block *old = &writer->old;
    struct block *block = &writer->block;
    size_t i = 0, j = 0;

    while (i < old->count || j < window->count) {
        if (j == window->count
            || (i < old->count && old->times[i].at_ms <= step_start_ms(writer, j))) {
            size_t place = place_last(block, old->times[i].at_ms);

            block->times[place] = old->times[i];
            writer->old_places[i++] = place;
        } else {
            writer->places[j] = place_last(block, step_start_ms(writer, j));
            j++;
        }
    }
}

static void grow_times(struct rollup_writer *writer)
{
    const struct rollup_window *window = writer->window;
    struct block *block = &writer->block;
    int64_t before_ms = window->before_ms;

    block->times = memory_zeroed(writer->old.count + window->count, sizeof *block->times);
    writer->old_places = memory_zeroed(writer->old.count, sizeof *writer->old_places);
    writer->places = memory_zeroed(window->count, sizeof *writer->places);
    merge_times(writer);
    for (size_t i = 0; i < window->count; i++) {
        struct scrape_point *step = &block->times[writer->places[i]];

        step->count++;
        if (window->follows[i])
            step->covered_ms += (double)(window->at_ms[i] - before_ms);
        before_ms = window->at_ms[i];
    }
}

static void add_points(const struct rollup_writer *writer, const struct source *source,
                       struct lane *lane)
{
    const struct rollup_window *window = writer->window;
    int64_t before_ms = isnan(source->before) ? -1 : window->before_ms;
    double before = source->before;

    for (size_t i = 0; source->has_values && i < window->count; i++) {
        double value = source->values[i];

        if (!window->follows[i])
            before_ms = -1;
        if (!isnan(value)) {
            const struct scrape_point point =
                block_point_of(window->at_ms[i], value, lane->is_counter, before_ms, before);
            block_point_merge(&lane->points[writer->places[i]], &point);
        }
        before_ms = isnan(value) ? -1 : window->at_ms[i];
        before = value;
    }
}

/* ---- Family by family, series by series ---- */

static CHECKED bool begin_family(struct rollup_writer *writer, int64_t family, struct error *error)
{
    family_reader_end(&writer->reader);
    writer->reader = family_reader_begin(writer->window->connection, writer->old_id, &writer->old,
                                         writer->level, family);
    return family_reader_next(&writer->reader, &writer->old_lane, error);
}

/* Finds the series' lane in the old block; *out NULL: there is none. */
static CHECKED bool find_old_lane(struct rollup_writer *writer, const struct source *source,
                                  const struct lane **out, struct error *error)
{
    if (writer->reader.family != source->family && !begin_family(writer, source->family, error))
        return false;
    while (writer->old_lane != NULL && writer->old_lane->series < source->series)
        if (!family_reader_next(&writer->reader, &writer->old_lane, error))
            return false;
    *out = writer->old_lane != NULL && writer->old_lane->series == source->series ? writer->old_lane
                                                                                  : NULL;
    return true;
}

bool rollup_writer_add(struct rollup_writer *writer, const struct source *source,
                       struct error *error)
{
    const struct block *block = &writer->block;
    struct lane lane = { source->series, source->is_counter, writer->points };
    const struct lane *old_lane;

    if (!find_old_lane(writer, source, &old_lane, error))
        return false;
    if (old_lane == NULL && !source->has_values)
        return true;
    memset(lane.points, 0, block->count * sizeof *lane.points);
    if (old_lane != NULL) {
        lane.is_counter = old_lane->is_counter;
        for (size_t i = 0; i < writer->old.count; i++)
            lane.points[writer->old_places[i]] = old_lane->points[i];
    }
    add_points(writer, source, &lane);
    return family_writer_add(&writer->families, source->family, &lane, error);
}

/* ---- Beginning and end ---- */

static CHECKED bool delete_old(const struct rollup_writer *writer, struct error *error)
{
    SQL_AUTO sql = sql_begin(writer->window->connection, "DELETE FROM blocks WHERE id = ?1");

    sql_bind_integer(&sql, 1, writer->old_id);
    return writer->old_id == 0 || sql_run(&sql, error);
}

static CHECKED bool insert_block(struct rollup_writer *writer, struct error *error)
{
    const struct rollup_window *window = writer->window;
    SQL_AUTO sql = sql_begin(window->connection,
                             "INSERT INTO blocks (deployment_id, level, from_ms, to_ms, data) "
                             "VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id");

    sql_bind_integer(&sql, 1, window->deployment_id);
    sql_bind_integer(&sql, 2, writer->level);
    sql_bind_integer(&sql, 3, writer->from_ms);
    sql_bind_integer(&sql, 4, writer->to_ms);
    sql_bind_blob(&sql, 5, "", 0); /* fill_block writes the data */
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    writer->id = sql_integer(&sql, 0);
    return true;
}

static CHECKED bool fill_block(const struct rollup_writer *writer, struct error *error)
{
    TEXT_AUTO data = { 0 };
    SQL_AUTO sql =
        sql_begin(writer->window->connection, "UPDATE blocks SET data = ?2 WHERE id = ?1");

    block_pack(&writer->block, &data);
    sql_bind_integer(&sql, 1, writer->id);
    sql_bind_blob(&sql, 2, data.data, data.length);
    return sql_run(&sql, error);
}

bool rollup_writer_begin(struct rollup_writer *writer, struct rollup_window *window,
                         enum scrape_level level, struct error *error)
{
    *writer = (struct rollup_writer){ .window = window, .level = level };
    if (!find_old(writer, error))
        return false;
    grow_times(writer);
    if (!insert_block(writer, error))
        return false;
    writer->points = memory_zeroed(writer->block.count, sizeof *writer->points);
    writer->families = family_writer_begin(window->connection, writer->id, &writer->block, level);
    return true;
}

bool rollup_writer_end(struct rollup_writer *writer, struct error *error)
{
    return family_writer_flush(&writer->families, error) && delete_old(writer, error)
           && fill_block(writer, error);
}

void rollup_writer_finish(struct rollup_writer *writer)
{
    family_reader_end(&writer->reader);
    family_writer_end(&writer->families);
    free(writer->points);
    free(writer->old_places);
    free(writer->places);
    block_finish(&writer->old);
    block_finish(&writer->block);
}
