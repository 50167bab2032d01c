/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/base64.h"

#include <openssl/evp.h>

/* How many bytes are encoded at a time: a multiple of three, so that only the end needs padding. */
#define BLOCK 3000

void base64_add(struct text *out, const void *bytes, size_t length)
{
    unsigned char encoded[BLOCK / 3 * 4 + 1];

    for (size_t at = 0; at < length; at += BLOCK) {
        size_t count = length - at < BLOCK ? length - at : BLOCK;
        int encoded_length =
            EVP_EncodeBlock(encoded, (const unsigned char *)bytes + at, (int)count);

        text_add_bytes(out, (const char *)encoded, (size_t)encoded_length);
    }
}

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/* Decodes up to four digits into up to three bytes. */
static bool decode_group(const char *group, size_t digits, struct text *out)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 4; i++) {
        int digit = i < digits ? digit_of(group[i]) : 0;

        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
    }
    for (size_t i = 0; i < 3; i++) {
        char byte = (char)(bits >> (16 - 8 * i) & 0xff);

        if (i + 1 < digits)
            text_add_char(out, byte);
        else if (byte != 0)
            return false; /* bits that no encoder sets */
    }
    return true;
}

bool base64_decode(struct text *out, const char *text, size_t length)
{
    if (length % 4 != 0)
        return false;
    while (length > 0 && text[length - 1] == '=' && length % 4 != 1)
        length--;
    for (size_t at = 0; at < length; at += 4) {
        size_t digits = length - at < 4 ? length - at : 4;

        if (digits == 1 || !decode_group(text + at, digits, out))
            return false;
    }
    return true;
}
