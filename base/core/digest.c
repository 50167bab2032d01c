/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/log.h"

/* OpenSSL's digests only fail if there is no memory or a provider is missing: then the program
 * cannot continue. */
static void check(bool done)
{
    if (done)
        return;
    log_error("OpenSSL cannot compute SHA-256");
    abort();
}

void digest_sha256(const void *data, size_t length, uint8_t out[DIGEST_BYTES])
{
    check(EVP_Digest(data, length, out, NULL, EVP_sha256(), NULL) == 1);
}

void digest_write(const uint8_t digest[DIGEST_BYTES], char out[DIGEST_TEXT_SIZE])
{
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

void digest_sha256_text(const void *data, size_t length, char out[DIGEST_TEXT_SIZE])
{
    uint8_t digest[DIGEST_BYTES];

    digest_sha256(data, length, digest);
    digest_write(digest, out);
}

void digest_hmac_sha256(const void *key, size_t key_length, const void *data, size_t length,
                        uint8_t out[DIGEST_BYTES])
{
    check(HMAC(EVP_sha256(), key, (int)key_length, data, length, out, NULL) != NULL);
}
