/* SPDX-License-Identifier: Apache-2.0 */
/* Reads stored scrapes as series over time: first the packed ones, then the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/sql_row.h"
#include "store/ledger/store_private.h"
#include "store/series/chunks.h"
#include "store/series/samples.h"
#include "store/series/scrapes.h"

/* A series that is being read: the step that is not reported yet, and the value at the previous
 * scrape. */
struct reading {
    int64_t id;
    bool is_counter;
    size_t tag;
    struct scrape_point step; /* count 0: there is none */
    int64_t before_ms;        /* of the previous scrape; -1: no growth is counted from it */
    double before;            /* value at the previous scrape */
};

struct selection {
    const struct scrape_range *range;
    enum scrape_level level;
    const struct scrape_visitor *visitor;
    int64_t family;
    struct reading *readings; /* in ascending order of ids */
    size_t count;
    /* The epoch of the previous scrape that was read from `samples`; -1: there is none. A new epoch
     * begins when the clock is set back. */
    int64_t epoch;
};

struct stored_series {
    int64_t id, family;
    struct scrape_series series;
};

#define SERIES_COLUMNS(FIRST, COLUMN, OF)                                                          \
    FIRST(struct stored_series, INTEGER, id, OF "id")                                              \
    COLUMN(struct stored_series, INTEGER, family, OF "family")                                     \
    COLUMN(struct stored_series, TEXT, series.name, OF "name")                                     \
    COLUMN(struct stored_series, TEXT, series.labels, OF "labels")                                 \
    COLUMN(struct stored_series, TEXT, series.type, OF "type")
static const struct sql_columns series_columns = SQL_COLUMNS(struct stored_series, SERIES_COLUMNS);

static bool choose_series(const struct selection *selection, const struct stored_series *stored,
                          struct reading *out)
{
    *out = (struct reading){ .id = stored->id, .before_ms = -1 };
    out->is_counter = strcmp(stored->series.type, "counter") == 0;
    return selection->visitor->choose(selection->visitor->context, &stored->series, &out->tag);
}

static CHECKED bool select_series(struct sql_connection *connection, struct selection *selection,
                                  struct error *error)
{
    enum sql_step step;
    struct stored_series stored;
    struct reading reading;
    SQL_AUTO sql =
        sql_begin(connection,
                  SQL_SELECT(SERIES_COLUMNS,
                             "") "FROM series WHERE deployment_id = ?1 AND name = ?2 ORDER BY id");

    sql_bind_integer(&sql, 1, selection->range->deployment_id);
    sql_bind_text(&sql, 2, selection->range->name);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        if (!sql_row_read(&sql, &series_columns, &stored, error))
            return false;
        selection->family = stored.family;
        if (!choose_series(selection, &stored, &reading))
            continue;
        selection->readings =
            sql_rows_grow(selection->readings, selection->count, sizeof *selection->readings);
        selection->readings[selection->count++] = reading;
    }
    return step == SQL_DONE;
}

static void report_step(const struct selection *selection, struct reading *reading)
{
    if (reading->step.count > 0)
        selection->visitor->receive(selection->visitor->context, reading->tag, &reading->step);
    reading->step.count = 0;
}

static void add_point(const struct selection *selection, struct reading *reading,
                      const struct scrape_point *point)
{
    const struct scrape_range *range = selection->range;
    int64_t at_ms = point->at_ms - point->at_ms % range->step_ms;

    if (point->at_ms < range->from_ms || point->at_ms >= range->to_ms)
        return;
    if (reading->step.count > 0 && reading->step.at_ms == at_ms) {
        block_point_merge(&reading->step, point);
        return;
    }
    report_step(selection, reading);
    reading->step = *point;
    reading->step.at_ms = at_ms;
}

static void forget_before(struct selection *selection)
{
    for (size_t i = 0; i < selection->count; i++)
        selection->readings[i].before_ms = -1;
}

/* Adds one scrape's value of the series. A value that is not finite counts as absent. */
static void add_scrape(const struct selection *selection, struct reading *reading, int64_t at_ms,
                       double value)
{
    if (isfinite(value)) {
        const struct scrape_point point =
            block_point_of(at_ms, value, reading->is_counter, reading->before_ms, reading->before);
        add_point(selection, reading, &point);
    }
    reading->before_ms = isfinite(value) ? at_ms : -1;
    reading->before = value;
}

/* ---- Packed scrapes ---- */

/* Converts a point of a series that was packed as a counter and no longer is one, or the reverse.
 * Keeps only `count` and `last`, because the two kinds have nothing else in common. */
static void change_type(struct scrape_point *point, bool is_counter)
{
    *point =
        (struct scrape_point){ .at_ms = point->at_ms, .count = point->count, .last = point->last };
    if (!is_counter) {
        point->min = point->max = point->last;
        point->sum = point->last * point->count;
    }
}

static void add_lane(const struct selection *selection, struct reading *reading,
                     const struct block *block, const struct lane *lane)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct scrape_point *time = &block->times[i];
        struct scrape_point point = lane->points[i];

        if (selection->level == SCRAPE_RAW) {
            /* Growth is counted only from the scrape that was covered_ms earlier. Where the clock
             * was set back, that is not the previous scrape. */
            if (reading->before_ms != time->at_ms - (int64_t)time->covered_ms)
                reading->before_ms = -1;
            add_scrape(selection, reading, point.at_ms, point.count > 0 ? point.last : NAN);
            continue;
        }
        if (lane->is_counter != reading->is_counter)
            change_type(&point, reading->is_counter);
        if (point.count > 0)
            add_point(selection, reading, &point);
    }
}

/* Lanes and readings are both in ascending order of series ids. A series without a lane is absent
 * from all of the block's scrapes, so no growth is counted from this block to the next. */
static CHECKED bool read_lanes(struct selection *selection, struct family_reader *reader,
                               struct error *error)
{
    const struct lane *lane;

    if (!family_reader_next(reader, &lane, error))
        return false;
    for (size_t i = 0; i < selection->count; i++) {
        struct reading *reading = &selection->readings[i];

        while (lane != NULL && lane->series < reading->id)
            if (!family_reader_next(reader, &lane, error))
                return false;
        if (lane != NULL && lane->series == reading->id)
            add_lane(selection, reading, reader->block, lane);
        else
            reading->before_ms = -1;
    }
    return true;
}

static CHECKED bool read_block(struct sql_connection *connection, struct selection *selection,
                               int64_t block_id, const struct block *block, struct error *error)
{
    struct family_reader reader =
        family_reader_begin(connection, block_id, block, selection->level, selection->family);
    bool ok = read_lanes(selection, &reader, error);

    family_reader_end(&reader);
    return ok;
}

/* Growth at the beginning of the range is counted from the scrape before the range. So this
 * function begins with the last block that is sure to have such a scrape: a block's first scrape
 * comes less than BLOCK_EARLY_MS after the block's beginning. If no block is sure to have one, the
 * function begins with the first block. */
static CHECKED bool read_blocks(struct sql_connection *connection, struct selection *selection,
                                struct error *error)
{
    const struct scrape_range *range = selection->range;
    size_t length;
    enum sql_step step;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT id, data FROM blocks WHERE deployment_id = ?1 AND level = ?2 "
                    "AND from_ms < ?4 AND from_ms >= coalesce((SELECT max(from_ms) FROM blocks "
                    "WHERE deployment_id = ?1 AND level = ?2 AND from_ms <= ?3), 0) "
                    "ORDER BY from_ms");

    sql_bind_integer(&sql, 1, range->deployment_id);
    sql_bind_integer(&sql, 2, selection->level);
    sql_bind_integer(&sql, 3, range->from_ms - BLOCK_EARLY_MS);
    sql_bind_integer(&sql, 4, range->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        struct block block;
        const void *data = sql_blob(&sql, 1, &length);

        if (!block_unpack(data, length, &block, error))
            return false;
        bool ok = read_block(connection, selection, sql_integer(&sql, 0), &block, error);
        block_finish(&block);
        if (!ok)
            return false;
    }
    return step == SQL_DONE;
}

/* ---- Scrapes that are not packed yet ---- */

/* If `packed` is set, the scrape is already in a block: it is not added again, but the growth at
 * the next scrape is counted from it. Samples and readings are both in ascending order of series
 * ids. */
static CHECKED bool add_samples(struct selection *selection, int64_t at_ms, bool packed,
                                const void *data, size_t length, struct error *error)
{
    FREE_AUTO struct sample *samples = NULL;
    size_t count, at = 0;

    if (!samples_unpack(data, length, &samples, &count, error))
        return false;
    for (size_t i = 0; i < selection->count; i++) {
        struct reading *reading = &selection->readings[i];

        while (at < count && samples[at].series < reading->id)
            at++;
        double value = at < count && samples[at].series == reading->id ? samples[at].value : NAN;
        if (!packed) {
            add_scrape(selection, reading, at_ms, value);
            continue;
        }
        reading->before_ms = isfinite(value) ? at_ms : -1;
        reading->before = value;
    }
    return true;
}

static CHECKED bool read_scrapes(struct sql_connection *connection, struct selection *selection,
                                 struct error *error)
{
    size_t length;
    enum sql_step step;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT at_ms, data, at_ms < coalesce((SELECT until_ms FROM compacted WHERE "
                    "deployment_id = ?1), 0), epoch FROM samples WHERE deployment_id = ?1 "
                    "AND at_ms < ?2 ORDER BY at_ms");

    sql_bind_integer(&sql, 1, selection->range->deployment_id);
    sql_bind_integer(&sql, 2, selection->range->to_ms);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        const void *data = sql_blob(&sql, 1, &length);

        if (sql_integer(&sql, 3) != selection->epoch)
            forget_before(selection);
        selection->epoch = sql_integer(&sql, 3);
        if (!add_samples(selection, sql_integer(&sql, 0), sql_integer(&sql, 2) != 0, data, length,
                         error))
            return false;
    }
    return step == SQL_DONE;
}

/* ---- The entire range ---- */

static CHECKED bool read_all(struct sql_connection *connection, struct selection *selection,
                             struct error *error)
{
    return select_series(connection, selection, error)
           && (selection->count == 0
               || (read_blocks(connection, selection, error)
                   && read_scrapes(connection, selection, error)));
}

/* Reads in one transaction, so that scrapes that are being rolled up are read exactly once. */
static CHECKED bool read_in_snapshot(struct sql_connection *connection, struct selection *selection,
                                     struct error *error)
{
    struct error ignored;
    bool ok;

    if (!sql_connection_snapshot(connection, error))
        return false;
    ok = read_all(connection, selection, error);
    return sql_connection_run(connection, "COMMIT", ok ? error : &ignored) && ok;
}

bool scrape_visit(struct store *store, const struct scrape_range *range, enum scrape_level level,
                  const struct scrape_visitor *visitor, struct error *error)
{
    struct selection selection = {
        .range = range, .level = level, .visitor = visitor, .epoch = -1
    };
    READER_AUTO reader = database_reader(store->scrapes);
    bool ok = read_in_snapshot(reader.connection, &selection, error);

    for (size_t i = 0; ok && i < selection.count; i++)
        report_step(&selection, &selection.readings[i]);
    free(selection.readings);
    return ok;
}

/* ---- Choosing a level ---- */

/* Finds the time at which each level begins; INT64_MAX: the level is empty. */
static CHECKED bool read_beginnings(struct sql_connection *connection, int64_t deployment_id,
                                    int64_t beginnings[SCRAPE_LEVELS], struct error *error)
{
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT level, min(from_ms) FROM blocks "
                                         "WHERE deployment_id = ?1 GROUP BY level");

    for (int i = 0; i < SCRAPE_LEVELS; i++)
        beginnings[i] = INT64_MAX;
    sql_bind_integer(&sql, 1, deployment_id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        int64_t level = sql_integer(&sql, 0);

        if (level >= 0 && level < SCRAPE_LEVELS)
            beginnings[level] = sql_integer(&sql, 1);
    }
    return step == SQL_DONE;
}

/* Among coarser levels that begin equally early, the finest is chosen. */
static enum scrape_level choose_level(const int64_t beginnings[SCRAPE_LEVELS], int64_t from_ms,
                                      int64_t step_ms)
{
    int best = SCRAPE_RAW;

    while (best + 1 < SCRAPE_LEVELS
           && step_ms % scrape_level_ms((enum scrape_level)(best + 1)) == 0)
        best++;
    for (int level = best + 1; level < SCRAPE_LEVELS; level++)
        if (beginnings[best] > from_ms && beginnings[level] < beginnings[best])
            best = level;
    return (enum scrape_level)best;
}

bool scrape_level_for(struct store *store, int64_t deployment_id, int64_t from_ms, int64_t step_ms,
                      enum scrape_level *out, struct error *error)
{
    int64_t beginnings[SCRAPE_LEVELS];
    READER_AUTO reader = database_reader(store->scrapes);

    if (!read_beginnings(reader.connection, deployment_id, beginnings, error))
        return false;
    *out = choose_level(beginnings, from_ms, step_ms);
    return true;
}
