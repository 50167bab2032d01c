/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/seal.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"

#define NONCE_BYTES 12
#define STEP_BYTES ((size_t)1 << 30) /* OpenSSL takes lengths as int */

static void write_nonce(uint64_t number, uint8_t out[NONCE_BYTES])
{
    for (int i = 0; i < NONCE_BYTES; i++)
        out[i] = (uint8_t)(i < 4 ? 0 : number >> (8 * (NONCE_BYTES - 1 - i)));
}

/* OpenSSL's cipher only fails if there is no memory or a provider is missing: then the program
 * cannot continue. */
static void check(bool done)
{
    if (done)
        return;
    log_error("OpenSSL cannot compute AES-256-GCM");
    abort();
}

static EVP_CIPHER_CTX *begin(const uint8_t key[DIGEST_BYTES], uint64_t number, bool encrypts)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    uint8_t nonce[NONCE_BYTES];

    write_nonce(number, nonce);
    check(context != NULL
          && EVP_CipherInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce, encrypts) == 1);
    return context;
}

static void encrypt_or_decrypt(EVP_CIPHER_CTX *context, const uint8_t *bytes, size_t length,
                               uint8_t *out)
{
    for (size_t at = 0, step; at < length; at += step) {
        int written;

        step = length - at < STEP_BYTES ? length - at : STEP_BYTES;
        check(EVP_CipherUpdate(context, out + at, &written, bytes + at, (int)step) == 1);
    }
}

void seal_close(const uint8_t key[DIGEST_BYTES], uint64_t number, const void *bytes, size_t length,
                uint8_t *out)
{
    EVP_CIPHER_CTX *context = begin(key, number, true);
    int written;

    encrypt_or_decrypt(context, bytes, length, out);
    check(EVP_CipherFinal_ex(context, out + length, &written) == 1
          && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, SEAL_BYTES, out + length) == 1);
    EVP_CIPHER_CTX_free(context);
}

bool seal_open(const uint8_t key[DIGEST_BYTES], uint64_t number, const uint8_t *sealed,
               size_t length, uint8_t *out)
{
    uint8_t tag[SEAL_BYTES];
    EVP_CIPHER_CTX *context;
    bool genuine;
    int written;

    if (length < SEAL_BYTES)
        return false;
    length -= SEAL_BYTES;
    memcpy(tag, sealed + length, sizeof tag);
    context = begin(key, number, false);
    encrypt_or_decrypt(context, sealed, length, out);
    genuine = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_BYTES, tag) == 1
              && EVP_CipherFinal_ex(context, out + length, &written) == 1;
    EVP_CIPHER_CTX_free(context);
    return genuine;
}
