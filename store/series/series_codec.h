/* The lanes of a family (the columns of its series, beside the times of a block), packed and
 * unpacked one at a time: thousands of them need no more memory than a few. Private to store/. */
#pragma once

#include "store/series/block.h"

struct lane {
    int64_t series;
    bool counter;
    struct scrape_point *points; /* beside the block's times; count 0: it was absent */
};

/* Packs lanes, by ascending series, into one run of bytes. Of counters count, last, increase and
 * covered_ms are kept; of others count, last, min, max and sum; at SCRAPE_RAW count and last. */
struct lane_packer;
struct lane_packer *lane_packer_create(const struct block *block, enum scrape_level level);
void lane_packer_destroy(struct lane_packer *packer); /* NULL is fine */
/* What `last` is of absent points is changed. */
void lane_packer_add(struct lane_packer *packer, const struct lane *lane);
/* Bytes so far, before they are compressed; 0: no lane. */
size_t lane_packer_size(const struct lane_packer *packer);
/* Appends what was added to *out, compressed, and starts anew. */
bool lane_packer_take(struct lane_packer *packer, struct text *out, struct error *error);

/* Unpacks them again. Where they hold fewer times than the block the rest is absent. */
struct lane_reader;
bool lane_reader_create(const struct block *block, enum scrape_level level, const void *data,
                        size_t length, struct lane_reader **out, struct error *error);
void lane_reader_destroy(struct lane_reader *reader); /* NULL is fine */
/* *out NULL: there are no more; else borrowed until the next call. */
bool lane_reader_next(struct lane_reader *reader, const struct lane **out, struct error *error);
