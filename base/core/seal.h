/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a file that nobody can read without the key, and that nobody can change, exchange or
 * omit unnoticed (AES-256-GCM, of OpenSSL). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/digest.h"

#define SEAL_BYTES 16 /* by which a sealed piece is longer */

/* `number` must be another one for each piece that is sealed with `key`. `out` has room for
 * length + SEAL_BYTES. */
void seal_close(const uint8_t key[DIGEST_BYTES], uint64_t number, const void *bytes, size_t length,
                uint8_t *out);
/* False: it is not the piece with this number that was sealed with this key. `length` is that of
 * the sealed piece; `out` has room for length - SEAL_BYTES. */
bool seal_open(const uint8_t key[DIGEST_BYTES], uint64_t number, const uint8_t *sealed,
               size_t length, uint8_t *out);
