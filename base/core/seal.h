/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypts a file as numbered pieces (with OpenSSL's AES-256-GCM). Without the key, nobody can read
 * a piece, or change or swap pieces unnoticed. A caller that reads the pieces in order notices a
 * missing piece, except at the end: the caller must check that the last piece is there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/digest.h"

#define SEAL_BYTES 16 /* how much longer a piece is once it is sealed */

/* Encrypts a piece. `number` must differ for every piece that is sealed with `key`. `out` has room
 * for length + SEAL_BYTES. */
void seal_close(const uint8_t key[DIGEST_BYTES], uint64_t number, const void *bytes, size_t length,
                uint8_t *out);
/* Decrypts a piece. Returns false if it is not the one that was sealed with this number and this
 * key; the bytes in `out` must then not be used. `length` is the length of the sealed piece; `out`
 * has room for length - SEAL_BYTES. */
bool seal_open(const uint8_t key[DIGEST_BYTES], uint64_t number, const uint8_t *sealed,
               size_t length, uint8_t *out);
