/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/header_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

#define PREFIX "=?base64?"
#define SUFFIX "?="

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/* Up to four digits to up to three bytes; false for what no encoder writes. */
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
            return false; /* bits left over */
    }
    return true;
}

static char *decode_base64(const char *text, size_t length)
{
    TEXT_AUTO out = { 0 };

    if (length % 4 != 0)
        return NULL;
    while (length > 0 && text[length - 1] == '=' && length % 4 != 1)
        length--;
    for (size_t at = 0; at < length; at += 4) {
        size_t digits = length - at < 4 ? length - at : 4;

        if (digits == 1 || !decode_group(text + at, digits, &out))
            return NULL;
    }
    if (out.length != strlen(text_string(&out)) || !text_is_utf8(text_string(&out), out.length))
        return NULL;
    return text_take(&out);
}

static bool is_plain(const char *value)
{
    for (const char *c = value; *c != '\0'; c++)
        if ((*c < 0x20 || *c > 0x7e) && *c != '\t')
            return false;
    return true;
}

static bool is_wrapped(const char *value, size_t length)
{
    return length >= sizeof PREFIX - 1 + sizeof SUFFIX - 1
           && strncmp(value, PREFIX, sizeof PREFIX - 1) == 0
           && strcmp(value + length - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

char *header_value_decode(const char *value)
{
    size_t length = strlen(value);

    if (is_wrapped(value, length))
        return decode_base64(value + sizeof PREFIX - 1,
                             length - (sizeof PREFIX - 1) - (sizeof SUFFIX - 1));
    return is_plain(value) ? memory_copy_text(value) : NULL;
}

bool header_value_is_plainly(const char *value, const char *text)
{
    return strcmp(value, text) == 0 && is_plain(value) && !is_wrapped(value, strlen(value));
}
