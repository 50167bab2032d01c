/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and HMAC (OpenSSL). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 32
#define DIGEST_TEXT_SIZE 65 /* lower-case hex and NUL */

void digest_sha256(const void *data, size_t length, uint8_t out[DIGEST_BYTES]);
/* Writes the digest as lower-case hex. */
void digest_write(const uint8_t digest[DIGEST_BYTES], char out[DIGEST_TEXT_SIZE]);
void digest_sha256_text(const void *data, size_t length, char out[DIGEST_TEXT_SIZE]);
void digest_hmac_sha256(const void *key, size_t key_length, const void *data, size_t length,
                        uint8_t out[DIGEST_BYTES]);
