#include "store/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/compress.h"
#include "base/memory.h"
#include "store/column.h"
#include "store/sql.h"
#include "store/varint.h"

#define HOUR_MS (60 * 60 * 1000LL)
#define POINTS_LIMIT 65536                   /* of one block, more is damaged */
#define UNPACKED_LIMIT (256UL * 1024 * 1024) /* bytes of one family */

static const struct level {
    int64_t step_ms, span_ms;
} levels[SCRAPE_LEVELS] = {
    [SCRAPE_RAW] = { 1, 4 * HOUR_MS },
    [SCRAPE_10_S] = { 10000, 4 * HOUR_MS },
    [SCRAPE_1_MIN] = { 60000, 24 * HOUR_MS },
    [SCRAPE_1_H] = { HOUR_MS, 60 * 24 * HOUR_MS },
};

int64_t scrape_level_ms(enum scrape_level level)
{
    return levels[level].step_ms;
}

int64_t block_span_ms(enum scrape_level level)
{
    return levels[level].span_ms;
}

/* ---- Points ---- */

struct scrape_point point_of(int64_t at_ms, double value, bool counter, int64_t before_ms,
                             double before)
{
    struct scrape_point point = { .at_ms = at_ms, .count = 1, .last = value };

    if (!counter) {
        point.min = point.max = point.sum = value;
    } else if (before_ms >= 0) {
        point.increase = value >= before ? value - before : value;
        point.covered_ms = (double)(at_ms - before_ms);
    }
    return point;
}

void point_merge(struct scrape_point *point, const struct scrape_point *later)
{
    if (later->count == 0)
        return;
    if (point->count == 0) {
        int64_t at_ms = point->at_ms;

        *point = *later;
        point->at_ms = at_ms;
        return;
    }
    point->count += later->count;
    point->last = later->last;
    point->min = later->min < point->min ? later->min : point->min;
    point->max = later->max > point->max ? later->max : point->max;
    point->sum += later->sum;
    point->increase += later->increase;
    point->covered_ms += later->covered_ms;
}

/* ---- Columns of points ---- */

#define OF(member) offsetof(struct scrape_point, member)

static double *member_of(struct scrape_point *point, size_t offset)
{
    return (double *)(void *)((char *)point + offset);
}

static double value_of(const struct scrape_point *point, size_t offset)
{
    double value;

    memcpy(&value, (const char *)point + offset, sizeof value);
    return value;
}

static void take_column(const struct scrape_point *points, size_t count, size_t offset, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = value_of(&points[i], offset);
}

static void put_column(const double *column, size_t count, size_t offset,
                       struct scrape_point *points)
{
    for (size_t i = 0; i < count; i++)
        *member_of(&points[i], offset) = column[i];
}

/* The members that a level keeps of a series, in the order in which each is predicted from those
 * before it. */
static const size_t raw_members[] = { OF(count), OF(last) };
static const size_t gauge_members[] = { OF(count), OF(last), OF(min), OF(max), OF(sum) };
static const size_t counter_members[] = { OF(count), OF(last), OF(increase), OF(covered_ms) };

static size_t members_of(enum scrape_level level, bool counter, const size_t **out)
{
    *out = level == SCRAPE_RAW ? raw_members : counter ? counter_members : gauge_members;
    return level == SCRAPE_RAW ? 2 : counter ? 4 : 5;
}

/* Memory that the columns of one family are worked on in: four columns of `count`. */
struct desk {
    size_t count;
    double *column, *base;
    double *before, *now; /* `last` of the lane before and of this one */
    bool has_before;
};

static void desk_begin(struct desk *desk, size_t count)
{
    double *columns = memory_zeroed(4 * count + 1, sizeof *columns);

    *desk =
        (struct desk){ count, columns, columns + count, columns + 2 * count, columns + 3 * count,
                       false };
}

static void desk_end(struct desk *desk)
{
    free(desk->column);
}

static void desk_next_lane(struct desk *desk)
{
    double *now = desk->now;

    desk->now = desk->before;
    desk->before = now;
    desk->has_before = true;
}

/* Buckets of a histogram grow with their neighbours. */
static void predict_by_neighbour(struct desk *desk)
{
    for (size_t i = 0; i < desk->count; i++)
        desk->base[i] = desk->before[i] - (i == 0 ? 0 : desk->before[i - 1]);
}

/* Of what comes after `last`; all of it is known by then. */
static struct prediction predict_member(struct desk *desk, const struct block *block,
                                        const struct scrape_point *points, size_t offset)
{
    for (size_t i = 0; i < desk->count; i++) {
        const struct scrape_point *point = &points[i];
        bool is_absent = point->count == 0;

        if (offset == OF(count))
            desk->base[i] = block->times[i].count;
        else if (offset == OF(min) || offset == OF(max))
            desk->base[i] = is_absent ? 0 : point->last;
        else if (offset == OF(sum))
            desk->base[i] = is_absent ? 0 : point->last * point->count;
        else if (offset == OF(increase))
            desk->base[i] = is_absent ? 0 : point->last - (i == 0 ? 0 : points[i - 1].last);
        else
            desk->base[i] = is_absent ? 0 : block->times[i].covered_ms;
    }
    return (struct prediction){ desk->base, false };
}

/* `last` of absent points is told as that before them: no surprise. */
static void take_last(struct desk *desk, const struct scrape_point *points)
{
    for (size_t i = 0; i < desk->count; i++)
        desk->now[i] = points[i].count > 0 ? points[i].last : i > 0 ? desk->now[i - 1] : 0;
}

/* By itself or by its neighbour, whichever is shorter; a byte says which. */
static void pack_last(struct desk *desk, struct text *out)
{
    const struct prediction alone = { NULL, true }, beside = { desk->base, true };
    size_t start = out->length, middle;

    text_add_char(out, 0);
    column_pack(out, desk->now, desk->count, &alone);
    if (!desk->has_before || out->length - start <= 2)
        return;
    middle = out->length;
    text_add_char(out, 1);
    predict_by_neighbour(desk);
    column_pack(out, desk->now, desk->count, &beside);
    if (out->length - middle < middle - start) {
        memmove(out->data + start, out->data + middle, out->length - middle);
        out->length = start + (out->length - middle);
    } else {
        out->length = middle;
    }
}

static bool unpack_last(struct desk *desk, const uint8_t **in, const uint8_t *end)
{
    bool beside;

    if (*in >= end)
        return false;
    beside = *(*in)++ != 0;
    if (beside)
        predict_by_neighbour(desk);
    return column_unpack(in, end, desk->now, desk->count,
                         &(struct prediction){ beside ? desk->base : NULL, true });
}

/* Absent points are 0 in every member but `last`. */
static void settle_last(struct desk *desk, struct scrape_point *points)
{
    put_column(desk->now, desk->count, OF(last), points);
}

static void pack_lane(struct desk *desk, const struct block *block, enum scrape_level level,
                      const struct lane *lane, struct text *out)
{
    const size_t *members;
    size_t count = members_of(level, lane->counter, &members);

    take_last(desk, lane->points);
    settle_last(desk, lane->points);
    for (size_t i = 0; i < count; i++) {
        if (members[i] == OF(last)) {
            pack_last(desk, out);
            continue;
        }
        struct prediction prediction = predict_member(desk, block, lane->points, members[i]);
        take_column(lane->points, desk->count, members[i], desk->column);
        column_pack(out, desk->column, desk->count, &prediction);
    }
    desk_next_lane(desk);
}

static bool unpack_lane(struct desk *desk, const struct block *block, enum scrape_level level,
                        struct lane *lane, const uint8_t **in, const uint8_t *end)
{
    const size_t *members;
    size_t count = members_of(level, lane->counter, &members);

    for (size_t i = 0; i < count; i++) {
        if (members[i] == OF(last)) {
            if (!unpack_last(desk, in, end))
                return false;
            settle_last(desk, lane->points);
            continue;
        }
        struct prediction prediction = predict_member(desk, block, lane->points, members[i]);
        if (!column_unpack(in, end, desk->column, desk->count, &prediction))
            return false;
        put_column(desk->column, desk->count, members[i], lane->points);
    }
    desk_next_lane(desk);
    return true;
}

/* ---- Families ---- */

static void add_varint(struct text *out, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];

    text_add_bytes(out, (const char *)bytes, (size_t)(varint_put(bytes, value) - bytes));
}

static bool add_compressed(const struct text *plain, struct text *out, struct error *error)
{
    FREE_AUTO void *packed = NULL;
    size_t length;

    if (!compress_bytes(plain->data, plain->length, &packed, &length, error))
        return false;
    text_add_bytes(out, packed, length);
    return true;
}

bool lanes_pack(const struct block *block, enum scrape_level level, const struct lane *lanes,
                size_t lane_count, struct text *out, struct error *error)
{
    TEXT_AUTO plain = { 0 };
    struct desk desk;
    int64_t before = 0;

    desk_begin(&desk, block->count);
    add_varint(&plain, block->count);
    add_varint(&plain, lane_count);
    for (size_t i = 0; i < lane_count; i++) {
        add_varint(&plain, (uint64_t)(lanes[i].series - before) << 1 | lanes[i].counter);
        before = lanes[i].series;
        pack_lane(&desk, block, level, &lanes[i], &plain);
    }
    desk_end(&desk);
    return add_compressed(&plain, out, error);
}

static bool read_lanes(const struct block *block, enum scrape_level level, size_t points,
                       struct lane *lanes, size_t lane_count, const uint8_t *in, const uint8_t *end)
{
    struct desk desk;
    int64_t series = 0;
    uint64_t step;
    bool ok = true;

    desk_begin(&desk, points);
    for (size_t i = 0; ok && i < lane_count; i++) {
        ok = varint_get(&in, end, &step) && step > 1 && step / 2 <= (uint64_t)(INT64_MAX - series);
        if (!ok)
            break;
        lanes[i].series = series += (int64_t)(step / 2);
        lanes[i].counter = (step & 1) != 0;
        ok = unpack_lane(&desk, block, level, &lanes[i], &in, end);
    }
    desk_end(&desk);
    return ok && in == end;
}

static struct lane *make_lanes(const struct block *block, size_t count)
{
    struct lane *lanes = memory_zeroed(count, sizeof *lanes);
    struct scrape_point *points = memory_zeroed(count * block->count, sizeof *points);

    for (size_t i = 0; i < count; i++) {
        lanes[i].points = points + i * block->count;
        for (size_t j = 0; j < block->count; j++)
            lanes[i].points[j].at_ms = block->times[j].at_ms;
    }
    return lanes;
}

bool lanes_unpack(const struct block *block, enum scrape_level level, const void *data,
                  size_t length, struct lane **out, size_t *lane_count, struct error *error)
{
    FREE_AUTO void *plain = NULL;
    uint64_t points = 0, count = 0;
    size_t plain_length;

    if (!compress_restore(data, length, UNPACKED_LIMIT, &plain, &plain_length, error))
        return false;
    const uint8_t *in = plain, *end = in + plain_length;
    if (!varint_get(&in, end, &points) || points > block->count || !varint_get(&in, end, &count)
        || count == 0 || count > SCRAPE_SERIES_LIMIT)
        return error_set(error, ERROR_INTERNAL, "stored metrics are damaged (%zu bytes)", length);
    struct lane *lanes = make_lanes(block, count);
    if (!read_lanes(block, level, points, lanes, count, in, end)) {
        lanes_free(lanes);
        return error_set(error, ERROR_INTERNAL, "stored metrics are damaged (%zu bytes)", length);
    }
    *out = lanes;
    *lane_count = count;
    return true;
}

void lanes_free(struct lane *lanes)
{
    if (lanes == NULL)
        return;
    free(lanes[0].points);
    free(lanes);
}

/* ---- Times and directory ---- */

static const size_t time_members[] = { OF(at_ms), OF(count), OF(covered_ms) };
static const struct prediction as_before = { NULL, true };

static void pack_times(const struct block *block, struct text *out)
{
    FREE_AUTO double *column = memory_zeroed(block->count, sizeof *column);

    for (size_t i = 0; i < block->count; i++)
        column[i] = (double)block->times[i].at_ms;
    column_pack(out, column, block->count, &as_before);
    for (size_t i = 1; i < 3; i++) {
        take_column(block->times, block->count, time_members[i], column);
        column_pack(out, column, block->count, &as_before);
    }
}

static bool unpack_times(struct block *block, const uint8_t **in, const uint8_t *end)
{
    FREE_AUTO double *column = memory_zeroed(block->count, sizeof *column);

    if (!column_unpack(in, end, column, block->count, &as_before))
        return false;
    for (size_t i = 0; i < block->count; i++)
        block->times[i].at_ms = is_whole(column[i]) ? (int64_t)column[i] : 0;
    for (size_t i = 1; i < 3; i++) {
        if (!column_unpack(in, end, column, block->count, &as_before))
            return false;
        put_column(column, block->count, time_members[i], block->times);
    }
    return true;
}

void block_pack(const struct block *block, struct text *out)
{
    int64_t before = 0;

    add_varint(out, block->count);
    pack_times(block, out);
    add_varint(out, block->family_count);
    for (size_t i = 0; i < block->family_count; i++) {
        add_varint(out, (uint64_t)(block->families[i] - before));
        before = block->families[i];
    }
}

static bool unpack_families(struct block *block, const uint8_t **in, const uint8_t *end)
{
    uint64_t count, step;
    int64_t family = 0;

    if (!varint_get(in, end, &count) || count > BLOCK_FAMILIES)
        return false;
    block->families = memory_zeroed(count, sizeof *block->families);
    for (size_t i = 0; i < count; i++) {
        if (!varint_get(in, end, &step) || step == 0 || step > (uint64_t)(INT64_MAX - family))
            return false;
        block->families[i] = family += (int64_t)step;
    }
    block->family_count = count;
    return *in == end;
}

bool block_unpack(const void *data, size_t length, struct block *out, struct error *error)
{
    const uint8_t *in = data, *end = in + length;
    struct block block = { 0 };
    uint64_t count;

    if (!varint_get(&in, end, &count) || count > POINTS_LIMIT)
        return error_set(error, ERROR_INTERNAL, "a stored block of metrics is damaged");
    block.times = memory_zeroed(count, sizeof *block.times);
    block.count = count;
    if (!unpack_times(&block, &in, end) || !unpack_families(&block, &in, end)) {
        block_finish(&block);
        return error_set(error, ERROR_INTERNAL, "a stored block of metrics is damaged");
    }
    *out = block;
    return true;
}

void block_finish(struct block *block)
{
    free(block->times);
    free(block->families);
    *block = (struct block){ 0 };
}

int64_t block_place(const struct block *block, int64_t family)
{
    size_t low = 0, high = block->family_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (block->families[middle] < family)
            low = middle + 1;
        else
            high = middle;
    }
    return low < block->family_count && block->families[low] == family ? (int64_t)low : -1;
}
