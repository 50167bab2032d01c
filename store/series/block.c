/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/block.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/series/column_codec.h"
#include "store/series/varint.h"

#define HOUR_MS (60 * 60 * 1000LL)

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

struct scrape_point block_point_of(int64_t at_ms, double value, bool is_counter, int64_t before_ms,
                                   double before)
{
    struct scrape_point point = { .at_ms = at_ms, .count = 1, .last = value };

    if (!is_counter) {
        point.min = point.max = point.sum = value;
    } else if (before_ms >= 0) {
        point.increase = value >= before ? value - before : value;
        point.covered_ms = (double)(at_ms - before_ms);
    }
    return point;
}

void block_point_merge(struct scrape_point *point, const struct scrape_point *later)
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

void block_points_get(const struct scrape_point *points, size_t count, size_t offset, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = value_of(&points[i], offset);
}

void block_points_put(const double *column, size_t count, size_t offset,
                      struct scrape_point *points)
{
    for (size_t i = 0; i < count; i++)
        *member_of(&points[i], offset) = column[i];
}

/* ---- The times and the directory ---- */

#define OF(member) offsetof(struct scrape_point, member)

static const size_t time_members[] = { OF(at_ms), OF(count), OF(covered_ms) };
static const struct prediction as_before = { NULL, true };

static void pack_times(const struct block *block, struct text *out)
{
    FREE_AUTO double *column = memory_zeroed(block->count, sizeof *column);

    for (size_t i = 0; i < block->count; i++)
        column[i] = (double)block->times[i].at_ms;
    column_codec_pack(out, column, block->count, &as_before);
    for (size_t i = 1; i < 3; i++) {
        block_points_get(block->times, block->count, time_members[i], column);
        column_codec_pack(out, column, block->count, &as_before);
    }
}

static bool unpack_times(struct block *block, const uint8_t **in, const uint8_t *end)
{
    FREE_AUTO double *column = memory_zeroed(block->count, sizeof *column);

    if (!column_codec_unpack(in, end, column, block->count, &as_before))
        return false;
    for (size_t i = 0; i < block->count; i++)
        block->times[i].at_ms = is_whole(column[i]) ? (int64_t)column[i] : 0;
    for (size_t i = 1; i < 3; i++) {
        if (!column_codec_unpack(in, end, column, block->count, &as_before))
            return false;
        block_points_put(column, block->count, time_members[i], block->times);
    }
    return true;
}

void block_pack(const struct block *block, struct text *out)
{
    int64_t before = 0;

    varint_add(out, block->count);
    pack_times(block, out);
    varint_add(out, block->family_count);
    for (size_t i = 0; i < block->family_count; i++) {
        varint_add(out, (uint64_t)(block->families[i] - before));
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
        if (!varint_get(in, end, &step) || step > (uint64_t)(INT64_MAX - family))
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

    if (!varint_get(&in, end, &count) || count > BLOCK_POINTS_LIMIT)
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
