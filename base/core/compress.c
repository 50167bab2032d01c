/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/compress.h"

#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/core/memory.h"

#define LEVEL 3

bool compress_bytes(const void *data, size_t length, void **out, size_t *out_length,
                    struct error *error)
{
    size_t bound = ZSTD_compressBound(length), written;
    void *packed = memory_zeroed(bound, 1);

    written = ZSTD_compress(packed, bound, data, length, LEVEL);
    if (ZSTD_isError(written)) {
        free(packed);
        return error_set(error, ERROR_INTERNAL, "cannot compress %zu bytes: %s", length,
                         ZSTD_getErrorName(written));
    }
    *out = memory_resize(packed, written, 1);
    *out_length = written;
    return true;
}

/* Reads how many bytes the frame decompresses to, and checks that this number is at most `limit`.
 * Frames made by compress_bytes always state it. */
static CHECKED bool read_size(const void *data, size_t length, size_t limit, size_t *out,
                              struct error *error)
{
    unsigned long long size = ZSTD_getFrameContentSize(data, length);

    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return error_set(error, ERROR_INVALID, "the %zu bytes were not compressed by opsbrain",
                         length);
    if (size > limit)
        return error_set(error, ERROR_INVALID,
                         "the %zu bytes decompress to %llu, more than the limit of %zu", length,
                         size, limit);
    *out = (size_t)size;
    return true;
}

bool compress_restore(const void *data, size_t length, size_t limit, void **out, size_t *out_length,
                      struct error *error)
{
    size_t size = 0, written;
    void *restored;

    if (!read_size(data, length, limit, &size, error))
        return false;
    restored = memory_zeroed(size, 1);
    written = ZSTD_decompress(restored, size, data, length);
    if (ZSTD_isError(written)) {
        free(restored);
        return error_set(error, ERROR_INVALID, "the compressed bytes are damaged: %s",
                         ZSTD_getErrorName(written));
    }
    *out = restored;
    *out_length = written;
    return true;
}
