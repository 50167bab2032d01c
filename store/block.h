/* A stretch of a deployment's scrapes at one level, packed by series: the times once for all, and
 * per family (the series of one name) the columns of its points. Private to store/. */
#pragma once

#include "base/text.h"
#include "store/scrapes.h"

#define BLOCK_POINTS 1440 /* one that has so many is full */
#define BLOCK_FAMILIES 65536
int64_t block_span_ms(enum scrape_level level); /* one block lies within one multiple of this */

struct block {
    struct scrape_point *times; /* at_ms, count and covered_ms of all scrapes; the rest is 0 */
    size_t count;
    int64_t *families; /* ascending */
    size_t family_count;
};
void block_pack(const struct block *block, struct text *out);
bool block_unpack(const void *data, size_t length, struct block *out, struct error *error);
void block_finish(struct block *block);
/* The family's place among those of the block; -1: it has none. */
int64_t block_place(const struct block *block, int64_t family);

struct lane {
    int64_t series;
    bool counter;
    struct scrape_point *points; /* beside the block's times; count 0: it was absent */
};
/* Of counters count, last, increase and covered_ms are kept; of others count, last, min, max and
 * sum; at SCRAPE_RAW count and last. */
bool lanes_pack(const struct block *block, enum scrape_level level, const struct lane *lanes,
                size_t lane_count, struct text *out, struct error *error);
/* Points are count by lane, heap, one allocation at lanes[0].points. Where the lanes hold fewer
 * times than the block the rest is absent. */
bool lanes_unpack(const struct block *block, enum scrape_level level, const void *data,
                  size_t length, struct lane **out, size_t *lane_count, struct error *error);
void lanes_free(struct lane *lanes);

/* Adds what came later within the same step. */
void point_merge(struct scrape_point *point, const struct scrape_point *later);
/* One scrape of a series, after the one before it (before_ms -1: there is none). */
struct scrape_point point_of(int64_t at_ms, double value, bool counter, int64_t before_ms,
                             double before);
