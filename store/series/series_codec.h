/* SPDX-License-Identifier: Apache-2.0 */
/* Packs and unpacks a family's lanes. A lane has the points of one series in a block. Only one
 * lane at a time is unpacked in memory. Private to store/. */
#pragma once

#include "store/series/block.h"

struct lane {
    int64_t series;
    bool is_counter;
    struct scrape_point *points; /* parallel to the block's times; a point with count 0 is absent */
};

/* Packs lanes, in ascending order of their series ids, into one sequence of bytes. At SCRAPE_RAW,
 * it contains only `count` and `last` of each point. At the other levels, it contains count, last,
 * increase and covered_ms of counters, and count, last, min, max and sum of other series. */
struct series_packer;
struct series_packer *series_packer_create(const struct block *block, enum scrape_level level);
void series_packer_destroy(struct series_packer *packer); /* NULL is fine */
/* Adds a lane. Overwrites the member `last` of its absent points. */
void series_packer_add(struct series_packer *packer, const struct lane *lane);
/* Returns how many bytes were added since the last flush, before compression; 0: no lane was
 * added. */
size_t series_packer_size(const struct series_packer *packer);
/* Compresses the lanes added since the last flush, and appends them to *out. */
CHECKED bool series_packer_flush(struct series_packer *packer, struct text *out,
                                 struct error *error);

/* Unpacks lanes. If a lane was packed with fewer points than the block has times, the points at the
 * remaining times are absent. */
struct series_reader;
CHECKED bool series_reader_create(const struct block *block, enum scrape_level level,
                                  const void *data, size_t length, struct series_reader **out,
                                  struct error *error);
void series_reader_destroy(struct series_reader *reader); /* NULL is fine */
/* Unpacks the next lane. *out NULL: there are no more lanes; otherwise, *out is borrowed until the
 * next call. */
CHECKED bool series_reader_next(struct series_reader *reader, const struct lane **out,
                                struct error *error);
