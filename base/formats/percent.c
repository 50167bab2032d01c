/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/percent.h"

#include <string.h>

int percent_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        return (c | 0x20) - 'a' + 10;
    return -1;
}

int percent_decode(const char *bytes, size_t length)
{
    int high = length > 2 && bytes[0] == '%' ? percent_hex_digit(bytes[1]) : -1;
    int low = high >= 0 ? percent_hex_digit(bytes[2]) : -1;

    return low >= 0 ? high << 4 | low : -1;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || strchr("-._~", c) != NULL;
}

void percent_encode(const char *string, const char *more, struct text *out)
{
    for (; *string != '\0'; string++)
        if (is_plain(*string) || strchr(more, *string) != NULL)
            text_add_char(out, *string);
        else
            text_addf(out, "%%%02X", (unsigned char)*string);
}
