/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/header_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/base64.h"
#include "base/core/memory.h"
#include "base/core/text.h"

#define PREFIX "=?base64?"
#define SUFFIX "?="

/* The decoded text, as heap memory; NULL if `encoded` is not base64, or the text is not UTF-8 or
 * contains a NUL. */
static char *decode_text(const char *encoded, size_t length)
{
    TEXT_AUTO out = { 0 };

    if (!base64_decode(&out, encoded, length) || out.length != strlen(text_string(&out))
        || !text_is_utf8(text_string(&out), out.length))
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
        return decode_text(value + sizeof PREFIX - 1,
                           length - (sizeof PREFIX - 1) - (sizeof SUFFIX - 1));
    return is_plain(value) ? memory_copy_text(value) : NULL;
}

bool header_value_is_plainly(const char *value, const char *text)
{
    return strcmp(value, text) == 0 && is_plain(value) && !is_wrapped(value, strlen(value));
}
