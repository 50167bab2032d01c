/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/series_codec.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/compress.h"
#include "base/core/memory.h"
#include "store/series/column_codec.h"
#include "store/series/scrapes.h"
#include "store/series/varint.h"

#define UNPACKED_LIMIT (256UL * 1024 * 1024) /* maximum bytes of one row after decompression */

/* ---- Columns ---- */

#define OF(member) offsetof(struct scrape_point, member)

/* The members of a point that are stored. `count` and `last` come first, because the others are
 * predicted from them. */
static const size_t raw_members[] = { OF(count), OF(last) };
static const size_t gauge_members[] = { OF(count), OF(last), OF(min), OF(max), OF(sum) };
static const size_t counter_members[] = { OF(count), OF(last), OF(increase), OF(covered_ms) };

static size_t members_of(enum scrape_level level, bool is_counter, const size_t **out)
{
    *out = level == SCRAPE_RAW ? raw_members : is_counter ? counter_members : gauge_members;
    return level == SCRAPE_RAW ? 2 : is_counter ? 4 : 5;
}

/* Working memory for lanes, which are handled one after another: four columns of `count` numbers
 * each. */
struct workspace {
    size_t count;
    double *column, *base;
    double *before;  /* the values `last` of the previous lane */
    double *now;     /* the values `last` of this lane */
    bool has_before; /* this lane is not the first one in its row */
};

static void workspace_begin(struct workspace *workspace, size_t count)
{
    double *columns = memory_zeroed(4 * count + 1, sizeof *columns);

    *workspace = (struct workspace){
        count, columns, columns + count, columns + 2 * count, columns + 3 * count, false
    };
}

static void workspace_end(struct workspace *workspace)
{
    free(workspace->column);
}

static void workspace_next_lane(struct workspace *workspace)
{
    double *now = workspace->now;

    workspace->now = workspace->before;
    workspace->before = now;
    workspace->has_before = true;
}

/* Predicts the same growth as in the previous series, because neighbouring buckets of a histogram
 * grow alike. */
static void predict_by_neighbour(struct workspace *workspace)
{
    for (size_t i = 0; i < workspace->count; i++)
        workspace->base[i] = workspace->before[i] - (i == 0 ? 0 : workspace->before[i - 1]);
}

/* Predicts a member other than `last`, from the block's times or from `count` and `last`. */
static struct prediction predict_member(struct workspace *workspace, const struct block *block,
                                        const struct scrape_point *points, size_t offset)
{
    for (size_t i = 0; i < workspace->count; i++) {
        const struct scrape_point *point = &points[i];
        bool is_absent = point->count == 0;

        if (offset == OF(count))
            workspace->base[i] = block->times[i].count;
        else if (offset == OF(min) || offset == OF(max))
            workspace->base[i] = is_absent ? 0 : point->last;
        else if (offset == OF(sum))
            workspace->base[i] = is_absent ? 0 : point->last * point->count;
        else if (offset == OF(increase))
            workspace->base[i] = is_absent ? 0 : point->last - (i == 0 ? 0 : points[i - 1].last);
        else
            workspace->base[i] = is_absent ? 0 : block->times[i].covered_ms;
    }
    return (struct prediction){ workspace->base, false };
}

/* Fills the column `now` with the values `last`. An absent point repeats the previous value (0 if
 * it is the first point), because a repeated value takes the least space. */
static void fill_last(struct workspace *workspace, const struct scrape_point *points)
{
    for (size_t i = 0; i < workspace->count; i++)
        workspace->now[i] = points[i].count > 0 ? points[i].last
                            : i > 0             ? workspace->now[i - 1]
                                                : 0;
}

/* Packs `last`, predicted from its own previous value alone or also from the previous series,
 * whichever takes fewer bytes. The first byte says which. */
static void pack_last(struct workspace *workspace, struct text *out)
{
    const struct prediction alone = { NULL, true }, with_neighbour = { workspace->base, true };
    size_t start = out->length, middle;

    text_add_char(out, 0);
    column_codec_pack(out, workspace->now, workspace->count, &alone);
    if (!workspace->has_before || out->length - start <= 2)
        return;
    middle = out->length;
    text_add_char(out, 1);
    predict_by_neighbour(workspace);
    column_codec_pack(out, workspace->now, workspace->count, &with_neighbour);
    if (out->length - middle < middle - start) {
        memmove(out->data + start, out->data + middle, out->length - middle);
        out->length = start + (out->length - middle);
    } else {
        out->length = middle;
    }
}

static bool unpack_last(struct workspace *workspace, const uint8_t **in, const uint8_t *end)
{
    bool with_neighbour;

    if (*in >= end)
        return false;
    with_neighbour = *(*in)++ != 0;
    if (with_neighbour)
        predict_by_neighbour(workspace);
    return column_codec_unpack(
        in, end, workspace->now, workspace->count,
        &(struct prediction){ with_neighbour ? workspace->base : NULL, true });
}

/* Copies the column `now` into `last` of all points, including the absent ones. */
static void put_last(struct workspace *workspace, struct scrape_point *points)
{
    block_points_put(workspace->now, workspace->count, OF(last), points);
}

static void pack_lane(struct workspace *workspace, const struct block *block,
                      enum scrape_level level, const struct lane *lane, struct text *out)
{
    const size_t *members;
    size_t count = members_of(level, lane->is_counter, &members);

    fill_last(workspace, lane->points);
    put_last(workspace, lane->points);
    for (size_t i = 0; i < count; i++) {
        if (members[i] == OF(last)) {
            pack_last(workspace, out);
            continue;
        }
        struct prediction prediction = predict_member(workspace, block, lane->points, members[i]);
        block_points_get(lane->points, workspace->count, members[i], workspace->column);
        column_codec_pack(out, workspace->column, workspace->count, &prediction);
    }
    workspace_next_lane(workspace);
}

static bool unpack_lane(struct workspace *workspace, const struct block *block,
                        enum scrape_level level, struct lane *lane, const uint8_t **in,
                        const uint8_t *end)
{
    const size_t *members;
    size_t count = members_of(level, lane->is_counter, &members);

    for (size_t i = 0; i < count; i++) {
        if (members[i] == OF(last)) {
            if (!unpack_last(workspace, in, end))
                return false;
            put_last(workspace, lane->points);
            continue;
        }
        struct prediction prediction = predict_member(workspace, block, lane->points, members[i]);
        if (!column_codec_unpack(in, end, workspace->column, workspace->count, &prediction))
            return false;
        block_points_put(workspace->column, workspace->count, members[i], lane->points);
    }
    workspace_next_lane(workspace);
    return true;
}

/* ---- Packing ---- */

struct series_packer {
    const struct block *block;
    enum scrape_level level;
    struct workspace workspace;
    struct text plain;
    size_t count;
    int64_t series; /* id of the previous lane's series; 0: this row has no lanes yet */
};

struct series_packer *series_packer_create(const struct block *block, enum scrape_level level)
{
    struct series_packer *packer = memory_zeroed(1, sizeof *packer);

    packer->block = block;
    packer->level = level;
    workspace_begin(&packer->workspace, block->count);
    return packer;
}

void series_packer_destroy(struct series_packer *packer)
{
    if (packer == NULL)
        return;
    workspace_end(&packer->workspace);
    text_finish(&packer->plain);
    free(packer);
}

void series_packer_add(struct series_packer *packer, const struct lane *lane)
{
    varint_add(&packer->plain, (uint64_t)(lane->series - packer->series) << 1 | lane->is_counter);
    pack_lane(&packer->workspace, packer->block, packer->level, lane, &packer->plain);
    packer->series = lane->series;
    packer->count++;
}

size_t series_packer_size(const struct series_packer *packer)
{
    return packer->plain.length;
}

bool series_packer_flush(struct series_packer *packer, struct text *out, struct error *error)
{
    FREE_AUTO void *packed = NULL;
    TEXT_AUTO plain = { 0 };
    size_t length;

    varint_add(&plain, packer->block->count);
    varint_add(&plain, packer->count);
    text_add_bytes(&plain, packer->plain.data, packer->plain.length);
    if (!compress_bytes(plain.data, plain.length, &packed, &length, error))
        return false;
    text_add_bytes(out, packed, length);
    text_clear(&packer->plain);
    packer->workspace.has_before = false;
    packer->series = 0;
    packer->count = 0;
    return true;
}

/* ---- Unpacking ---- */

struct series_reader {
    const struct block *block;
    enum scrape_level level;
    void *plain;
    const uint8_t *in, *end;
    uint64_t left; /* the number of lanes that are still to be read */
    struct workspace workspace;
    struct lane lane;
};

static CHECKED bool refuse_damaged(struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "stored metrics are damaged");
}

bool series_reader_create(const struct block *block, enum scrape_level level, const void *data,
                          size_t length, struct series_reader **out, struct error *error)
{
    FREE_AUTO void *plain = NULL;
    uint64_t points = 0, count = 0;
    size_t plain_length;

    if (!compress_restore(data, length, UNPACKED_LIMIT, &plain, &plain_length, error))
        return false;
    const uint8_t *in = plain, *end = in + plain_length;
    if (!varint_get(&in, end, &points) || points > block->count || !varint_get(&in, end, &count)
        || count == 0 || count > SCRAPE_SERIES_LIMIT)
        return refuse_damaged(error);
    struct series_reader *reader = memory_zeroed(1, sizeof *reader);
    *reader = (struct series_reader){
        .block = block, .level = level, .plain = plain, .in = in, .end = end, .left = count
    };
    reader->lane.points = memory_zeroed(block->count, sizeof *reader->lane.points);
    workspace_begin(&reader->workspace, points);
    plain = NULL;
    *out = reader;
    return true;
}

void series_reader_destroy(struct series_reader *reader)
{
    if (reader == NULL)
        return;
    workspace_end(&reader->workspace);
    free(reader->lane.points);
    free(reader->plain);
    free(reader);
}

static void clear_points(const struct block *block, struct scrape_point *points)
{
    for (size_t i = 0; i < block->count; i++)
        points[i] = (struct scrape_point){ .at_ms = block->times[i].at_ms };
}

static bool read_lane(struct series_reader *reader)
{
    struct lane *lane = &reader->lane;
    uint64_t step;

    if (!varint_get(&reader->in, reader->end, &step) || step < 2
        || step / 2 > (uint64_t)(INT64_MAX - lane->series))
        return false;
    lane->series += (int64_t)(step / 2);
    lane->is_counter = (step & 1) != 0;
    clear_points(reader->block, lane->points);
    return unpack_lane(&reader->workspace, reader->block, reader->level, lane, &reader->in,
                       reader->end);
}

bool series_reader_next(struct series_reader *reader, const struct lane **out, struct error *error)
{
    *out = NULL;
    if (reader->left == 0)
        return reader->in == reader->end || refuse_damaged(error);
    if (!read_lane(reader))
        return refuse_damaged(error);
    reader->left--;
    *out = &reader->lane;
    return true;
}
