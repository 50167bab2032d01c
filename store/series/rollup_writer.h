/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a window (rollup_window.h) to a block of one level. Private to store/. */
#pragma once

#include "store/series/chunks.h"
#include "store/series/rollup_window.h"

struct rollup_writer {
    struct rollup_window *window;
    enum scrape_level level;
    int64_t old_id, id; /* old_id 0: there is no old block */
    int64_t from_ms, to_ms;
    struct block old;            /* the block to which the window is added */
    struct block block;          /* the block that replaces it */
    size_t *old_places;          /* for each time of the old block, its position in `block` */
    size_t *places;              /* for each scrape of the window, its step's position in `block` */
    struct scrape_point *points; /* the points of the series that is being added */
    struct family_reader reader; /* reads a family of the old block */
    const struct lane *old_lane; /* the lane last read by `reader`; NULL: there are no more */
    struct family_writer families;
};

/* Begins a new block with the window's scrapes. If the last block that begins before the window's
 * end has room and belongs to the same span, the new block also takes over its points and replaces
 * it. If the window does not come after that block, because the clock was set back, the two are
 * merged in order of time. */
CHECKED bool rollup_writer_begin(struct rollup_writer *writer, struct rollup_window *window,
                                 enum scrape_level level, struct error *error);
/* Adds a series. Call this for all of the window's sources, in their order, after loading their
 * values. */
CHECKED bool rollup_writer_add(struct rollup_writer *writer, const struct source *source,
                               struct error *error);
/* Writes the block and deletes the old one. */
CHECKED bool rollup_writer_end(struct rollup_writer *writer, struct error *error);
/* Can be called on a zeroed struct, and after rollup_writer_begin failed. */
void rollup_writer_finish(struct rollup_writer *writer);
