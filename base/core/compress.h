/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses bytes with zstd, and restores them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"

/* The caller frees *out. */
CHECKED bool compress_bytes(const void *data, size_t length, void **out, size_t *out_length,
                            struct error *error);
/* The caller frees *out. INVALID if the data is not a zstd frame that states its restored size,
 * cannot be decompressed, or would restore to more than `limit` bytes. */
CHECKED bool compress_restore(const void *data, size_t length, size_t limit, void **out,
                              size_t *out_length, struct error *error);
