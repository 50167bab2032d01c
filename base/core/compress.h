/* SPDX-License-Identifier: Apache-2.0 */
/* zstd, one call for each direction. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"

/* *out is heap memory that the caller frees. */
CHECKED bool compress_bytes(const void *data, size_t length, void **out, size_t *out_length,
                            struct error *error);
/* Refuses data that would unpack to more than `limit` bytes. */
CHECKED bool compress_restore(const void *data, size_t length, size_t limit, void **out,
                              size_t *out_length, struct error *error);
