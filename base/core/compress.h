/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses bytes with zstd, and decompresses them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"

/* The caller frees *out. */
CHECKED bool compress_bytes(const void *data, size_t length, void **out, size_t *out_length,
                            struct error *error);
/* Decompresses bytes. The caller frees *out. INVALID if the data is not a zstd frame that states
 * its decompressed size, if this size is more than `limit` bytes, or if the data cannot be
 * decompressed. */
CHECKED bool compress_restore(const void *data, size_t length, size_t limit, void **out,
                              size_t *out_length, struct error *error);
