/* SPDX-License-Identifier: Apache-2.0 */
/* A block holds a part of a deployment's scrapes at one level, packed by series. Its row in the
 * table blocks has the times, which all series share, and the directory: the ids of the families. A
 * family consists of the deployment's series that have the same name. The families' points are in
 * rows of the table chunks (chunks.h). There, each series that has values in the block has a lane:
 * one point for each of the times. Private to store/. */
#pragma once

#include "base/core/error.h"
#include "base/core/text.h"
#include "store/series/scrape_point.h"

#define BLOCK_POINTS 1440 /* a block that has this many times gets no later scrapes */
/* The maximum number of times in a block. If the clock was set back, there can be scrapes that are
 * earlier than a block's last time: these are added even to a block that has BLOCK_POINTS times or
 * more. */
#define BLOCK_POINTS_LIMIT 65536
#define BLOCK_FAMILIES 65536 /* the maximum number of rows in the table chunks for one block */
/* A block begins at a multiple of this many milliseconds, and its first scrape comes less than this
 * long after its beginning. */
#define BLOCK_EARLY_MS (10 * 60 * 1000LL)
/* At each level, time is divided into spans of equal length, and no block belongs to two spans.
 * Returns the length of the level's spans. */
int64_t block_span_ms(enum scrape_level level);

struct block {
    struct scrape_point *times; /* only at_ms, count and covered_ms are set */
    size_t count;
    int64_t *families; /* ids, ascending; a family with several rows is listed once for each row */
    size_t family_count;
};
/* Appends the block in packed form. */
void block_pack(const struct block *block, struct text *out);
/* INTERNAL: the data is damaged. Free *out with block_finish. */
CHECKED bool block_unpack(const void *data, size_t length, struct block *out, struct error *error);
void block_finish(struct block *block);
/* Returns the index, from 0, of the family's first row among the block's rows; -1: the family has
 * none. */
int64_t block_place(const struct block *block, int64_t family);

/* Adds a later point of the same step to `point`. */
void block_point_merge(struct scrape_point *point, const struct scrape_point *later);
/* Makes the point for one scrape of a series. `before_ms` and `before` are the time and value of
 * the previous scrape; before_ms -1: no growth is counted. */
struct scrape_point block_point_of(int64_t at_ms, double value, bool is_counter, int64_t before_ms,
                                   double before);

/* block_points_get copies one member of each point (the double at `offset`) into a column;
 * block_points_put copies a column into the points. */
void block_points_get(const struct scrape_point *points, size_t count, size_t offset, double *out);
void block_points_put(const double *column, size_t count, size_t offset,
                      struct scrape_point *points);
