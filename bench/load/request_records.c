/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/request_records.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/compress.h"
#include "base/core/memory.h"

#define MAGIC 0x3252424fu /* "OBR2" */
#define HEADER_BYTES 16

struct column {
    size_t offset, size; /* in bytes, of a member of struct record */
};

#define COLUMN(member)                                                                             \
    {                                                                                              \
        offsetof(struct record, member), sizeof(((struct record *)0)->member)                      \
    }

static const struct column columns[] = {
    COLUMN(index),         COLUMN(sent_us), COLUMN(ttft_us),      COLUMN(e2e_us),
    COLUMN(output_tokens), COLUMN(chunks),  COLUMN(input_tokens), COLUMN(cached_tokens),
    COLUMN(failure),       COLUMN(phase),   COLUMN(due_us),
};

#define COLUMNS (sizeof columns / sizeof *columns)

void request_records_add(struct request_records *records, const struct record *record)
{
    if (records->count == REQUEST_RECORDS_LIMIT)
        return;
    if (records->count == records->capacity) {
        records->capacity = records->capacity > 0 ? 2 * records->capacity : 256;
        records->rows = memory_resize(records->rows, records->capacity, sizeof *records->rows);
    }
    records->rows[records->count++] = *record;
}

void request_records_merge(struct request_records *into, const struct request_records *from)
{
    into->origin_ns = from->origin_ns;
    for (size_t i = 0; i < from->count; i++)
        request_records_add(into, &from->rows[i]);
}

void request_records_finish(struct request_records *records)
{
    free(records->rows);
    *records = (struct request_records){ 0 };
}

static size_t row_bytes(void)
{
    size_t bytes = 0;

    for (size_t i = 0; i < COLUMNS; i++)
        bytes += columns[i].size;
    return bytes;
}

/* Copies a number, converting it from or to little-endian. */
static void copy_little(void *out, const void *from, size_t size)
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
    memcpy(out, from, size);
#else
    for (size_t i = 0; i < size; i++)
        ((char *)out)[i] = ((const char *)from)[size - 1 - i];
#endif
}

bool request_records_pack(const struct request_records *records, void **out, size_t *length,
                          struct error *error)
{
    size_t size = HEADER_BYTES + records->count * row_bytes();
    FREE_AUTO unsigned char *packed = memory_zeroed(size, 1);
    uint32_t magic = MAGIC, count = (uint32_t)records->count;
    unsigned char *at = packed + HEADER_BYTES;

    copy_little(packed, &magic, 4);
    copy_little(packed + 4, &count, 4);
    copy_little(packed + 8, &records->origin_ns, 8);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < records->count; i++, at += columns[c].size)
            copy_little(at, (const char *)&records->rows[i] + columns[c].offset, columns[c].size);
    return compress_bytes(packed, size, out, length, error);
}

bool request_records_unpack(const void *data, size_t length, struct request_records *out,
                            struct error *error)
{
    size_t limit = HEADER_BYTES + REQUEST_RECORDS_LIMIT * row_bytes(), size;
    FREE_AUTO void *packed = NULL;
    const unsigned char *at;
    uint32_t magic = 0, count = 0;
    struct record *rows;
    int64_t origin_ns = 0;

    if (!compress_restore(data, length, limit, &packed, &size, error))
        return false;
    if (size >= HEADER_BYTES) {
        copy_little(&magic, packed, 4);
        copy_little(&count, (const char *)packed + 4, 4);
        copy_little(&origin_ns, (const char *)packed + 8, 8);
    }
    if (magic != MAGIC || count > REQUEST_RECORDS_LIMIT
        || size != HEADER_BYTES + count * row_bytes())
        return error_set(error, ERROR_INVALID,
                         "the request records are damaged: %zu bytes for %u records", size, count);
    rows = memory_zeroed(count, sizeof *rows);
    at = (const unsigned char *)packed + HEADER_BYTES;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < count; i++, at += columns[c].size)
            copy_little((char *)&rows[i] + columns[c].offset, at, columns[c].size);
    *out = (struct request_records){ rows, count, count, origin_ns };
    return true;
}
