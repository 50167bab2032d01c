/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/base64.h"

#include <openssl/evp.h>

#define BLOCK 3000 /* a multiple of three, which base64 turns into four each */

void base64_add(struct text *out, const void *bytes, size_t length)
{
    unsigned char written[BLOCK / 3 * 4 + 1];

    for (size_t at = 0; at < length; at += BLOCK) {
        size_t count = length - at < BLOCK ? length - at : BLOCK;
        int got = EVP_EncodeBlock(written, (const unsigned char *)bytes + at, (int)count);

        text_add_bytes(out, (const char *)written, (size_t)got);
    }
}
