/* SPDX-License-Identifier: Apache-2.0 */
/* A block holds a part of a deployment's scrapes at one level, packed by series. It consists of the
 * times, which all series share, and the directory of the families. A family is all series with one
 * name; their points are in separate rows (chunks.h). Each series that has values in the block has
 * a lane: one point for each of the times. Private to store/. */
#pragma once

#include "base/core/error.h"
#include "base/core/text.h"
#include "store/series/scrape_point.h"

#define BLOCK_POINTS 1440        /* a block with this many times is full */
#define BLOCK_POINTS_LIMIT 65536 /* maximum number of times in a block */
#define BLOCK_FAMILIES 65536     /* maximum number of family rows in a block */
/* A block begins at a multiple of this; its first scrape comes less than this long after that. */
#define BLOCK_EARLY_MS (10 * 60 * 1000LL)
/* Returns the length of a span. No block extends across a multiple of this length. */
int64_t block_span_ms(enum scrape_level level);

struct block {
    struct scrape_point *times; /* at_ms, count and covered_ms of each step; the rest is 0 */
    size_t count;
    int64_t *families; /* ids, ascending; a family with several rows is listed once for each row */
    size_t family_count;
};
/* Appends the block in packed form. */
void block_pack(const struct block *block, struct text *out);
/* INTERNAL: the data is damaged. Free *out with block_finish. */
CHECKED bool block_unpack(const void *data, size_t length, struct block *out, struct error *error);
void block_finish(struct block *block);
/* Returns the index of the family's first row among the rows of the block; -1: it has none. */
int64_t block_place(const struct block *block, int64_t family);

/* Adds a later point of the same step to `point`. */
void block_point_merge(struct scrape_point *point, const struct scrape_point *later);
/* Makes the point for one scrape of a series, given the time and value of the previous scrape
 * (before_ms -1: there is none). */
struct scrape_point block_point_of(int64_t at_ms, double value, bool is_counter, int64_t before_ms,
                                   double before);

/* block_points_get copies one member of each point (the double at `offset`) into a column;
 * block_points_put copies the column back. */
void block_points_get(const struct scrape_point *points, size_t count, size_t offset, double *out);
void block_points_put(const double *column, size_t count, size_t offset,
                      struct scrape_point *points);
