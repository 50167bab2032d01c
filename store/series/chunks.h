/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the families of a block. In the table chunks, each family has one row, or
 * several if it is large. Private to store/. */
#pragma once

#include "store/series/series_codec.h"

struct sql_connection;

/* Reads one family's lanes, in ascending order of their series ids. */
struct family_reader {
    struct sql_connection *connection;
    const struct block *block;
    enum scrape_level level;
    int64_t block_id, family;
    int64_t place;               /* index, from 0, of the block's row to open next; -1: none */
    struct series_reader *lanes; /* reads the lanes of the open row; NULL: no row is open */
};
/* Borrows `block`. If the block does not have the family, the reader finds no lanes. */
struct family_reader family_reader_begin(struct sql_connection *connection, int64_t block_id,
                                         const struct block *block, enum scrape_level level,
                                         int64_t family);
/* Reads the next lane. *out NULL: there are no more lanes; otherwise, *out is borrowed until the
 * next call. */
CHECKED bool family_reader_next(struct family_reader *reader, const struct lane **out,
                                struct error *error);
void family_reader_end(struct family_reader *reader);

/* Adds families to a block. The caller must add the families in ascending order of their ids, and
 * each family's lanes in ascending order of their series ids. */
struct family_writer {
    struct sql_connection *connection;
    struct block *block; /* the writer adds the families to the block's directory */
    int64_t block_id, family;
    struct series_packer *packer;
};
struct family_writer family_writer_begin(struct sql_connection *connection, int64_t block_id,
                                         struct block *block, enum scrape_level level);
CHECKED bool family_writer_add(struct family_writer *writer, int64_t family,
                               const struct lane *lane, struct error *error);
/* Writes the lanes that are still in memory, which family_writer_end would discard. */
CHECKED bool family_writer_flush(struct family_writer *writer, struct error *error);
void family_writer_end(struct family_writer *writer);
