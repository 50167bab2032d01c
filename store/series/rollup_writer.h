/* SPDX-License-Identifier: Apache-2.0 */
/* How a block of one level grows by a window. Private to store/. */
#pragma once

#include "store/series/chunks.h"
#include "store/series/rollup_window.h"

/* The block before and after. */
struct rollup_writer {
    struct rollup_window *window;
    enum scrape_level level;
    int64_t old_id, id; /* old_id 0: the window begins a block */
    int64_t from_ms, to_ms;
    struct block old, block;
    size_t *old_places;          /* the position of each old time among the block's times */
    size_t *places;              /* and each scrape */
    struct scrape_point *points; /* of the series that is being added */
    struct family_reader reader; /* of the block as it is */
    const struct lane *before;   /* its next lane; NULL: there is none */
    struct family_writer writer;
};

/* Begins a row that replaces the last block before the window's end, or follows it if that is full.
 * A window that lies within a block, as after a clock was set back, is merged into it. */
CHECKED bool rollup_writer_begin(struct rollup_writer *growth, struct rollup_window *window,
                                 enum scrape_level level, struct error *error);
/* In the order of the window's sources: all of them, with their values. */
CHECKED bool rollup_writer_add(struct rollup_writer *growth, const struct source *source,
                               struct error *error);
CHECKED bool rollup_writer_end(struct rollup_writer *growth, struct error *error);
void rollup_writer_finish(
    struct rollup_writer *growth); /* also if it failed to begin, or is zeroed */
