/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/chunks.h"

#include "store/engine/sql.h"

/* When the lanes of a row have this many uncompressed bytes, no more lanes are added to the row. */
#define CHUNK_BYTES (256UL * 1024)

/* ---- Reading ---- */

struct family_reader family_reader_begin(struct sql_connection *connection, int64_t block_id,
                                         const struct block *block, enum scrape_level level,
                                         int64_t family)
{
    return (struct family_reader){ .connection = connection,
                                   .block = block,
                                   .level = level,
                                   .block_id = block_id,
                                   .family = family,
                                   .place = block_place(block, family) };
}

static bool has_row(const struct family_reader *reader)
{
    const struct block *block = reader->block;

    return reader->place >= 0 && reader->place < (int64_t)block->family_count
           && block->families[reader->place] == reader->family;
}

static CHECKED bool open_row(struct family_reader *reader, struct error *error)
{
    bool found;
    size_t length;
    SQL_AUTO sql = sql_begin(reader->connection, "SELECT data FROM chunks WHERE id = ?1");

    sql_bind_integer(&sql, 1, reader->block_id * BLOCK_FAMILIES + reader->place++);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_INTERNAL, "stored metrics are damaged: a chunk is missing");
    const void *data = sql_blob(&sql, 0, &length);
    return series_reader_create(reader->block, reader->level, data, length, &reader->lanes, error);
}

static void close_row(struct family_reader *reader)
{
    series_reader_destroy(reader->lanes);
    reader->lanes = NULL;
}

bool family_reader_next(struct family_reader *reader, const struct lane **out, struct error *error)
{
    *out = NULL;
    while (*out == NULL && (reader->lanes != NULL || has_row(reader))) {
        if (reader->lanes == NULL && !open_row(reader, error))
            return false;
        if (!series_reader_next(reader->lanes, out, error))
            return false;
        if (*out == NULL)
            close_row(reader);
    }
    return true;
}

void family_reader_end(struct family_reader *reader)
{
    close_row(reader);
    reader->place = -1;
}

/* ---- Writing ---- */

struct family_writer family_writer_begin(struct sql_connection *connection, int64_t block_id,
                                         struct block *block, enum scrape_level level)
{
    return (struct family_writer){ .connection = connection,
                                   .block = block,
                                   .block_id = block_id,
                                   .packer = series_packer_create(block, level) };
}

bool family_writer_flush(struct family_writer *writer, struct error *error)
{
    struct block *block = writer->block;
    TEXT_AUTO data = { 0 };
    SQL_AUTO sql = sql_begin(writer->connection, "INSERT INTO chunks (id, data) VALUES (?1, ?2)");

    if (series_packer_size(writer->packer) == 0)
        return true;
    if (!series_packer_flush(writer->packer, &data, error))
        return false;
    sql_bind_integer(&sql, 1, writer->block_id * BLOCK_FAMILIES + (int64_t)block->family_count);
    sql_bind_blob(&sql, 2, data.data, data.length);
    block->families = sql_rows_grow(block->families, block->family_count, sizeof *block->families);
    block->families[block->family_count++] = writer->family;
    return sql_run(&sql, error);
}

bool family_writer_add(struct family_writer *writer, int64_t family, const struct lane *lane,
                       struct error *error)
{
    bool is_full = series_packer_size(writer->packer) >= CHUNK_BYTES;

    if ((is_full || family != writer->family) && !family_writer_flush(writer, error))
        return false;
    writer->family = family;
    series_packer_add(writer->packer, lane);
    return true;
}

void family_writer_end(struct family_writer *writer)
{
    series_packer_destroy(writer->packer);
    writer->packer = NULL;
}
