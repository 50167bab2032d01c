/* SPDX-License-Identifier: Apache-2.0 */
/* zstd in one call each way. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/error.h"

/* *out is heap memory, yours to free. */
CHECKED bool compress_bytes(const void *data, size_t length, void **out, size_t *out_length,
                            struct error *error);
/* Refuses what would unpack to more than `limit` bytes. */
CHECKED bool compress_restore(const void *data, size_t length, size_t limit, void **out,
                              size_t *out_length, struct error *error);
