/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/request_id.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The nonce fills four groups of 8, 4, 3 and 1 hexadecimal digits. The UUID's version (4) is in
 * front of the group of 3 digits, its variant (8) in front of the single digit. The index fills the
 * last 12 digits. */
void request_id_write(uint64_t nonce, uint64_t index, char out[REQUEST_ID_LENGTH + 1])
{
    snprintf(out, REQUEST_ID_LENGTH + 1,
             "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-8%01" PRIx64 "00-%012" PRIx64, nonce >> 32,
             nonce >> 16 & 0xffff, nonce >> 4 & 0xfff, nonce & 0xf, index & 0xffffffffffff);
}

/* Reads `count` hexadecimal digits as a number; false if one of them is not 0 to 9 or a to f. */
static bool read_digits(const char *digits, size_t count, uint64_t *out)
{
    static const char known[] = "0123456789abcdef";
    uint64_t value = 0;

    for (size_t i = 0; i < count; i++) {
        const char *found = digits[i] != '\0' ? strchr(known, digits[i]) : NULL;

        if (found == NULL)
            return false;
        value = value << 4 | (uint64_t)(found - known);
    }
    *out = value;
    return true;
}

bool request_id_read(const char *id, uint64_t *nonce, uint64_t *index)
{
    uint64_t high, middle, low, last, found;

    if (strlen(id) != REQUEST_ID_LENGTH || id[8] != '-' || id[13] != '-' || id[18] != '-'
        || id[23] != '-' || id[14] != '4' || id[19] != '8' || memcmp(id + 21, "00", 2) != 0
        || !read_digits(id, 8, &high) || !read_digits(id + 9, 4, &middle)
        || !read_digits(id + 15, 3, &low) || !read_digits(id + 20, 1, &last)
        || !read_digits(id + 24, 12, &found))
        return false;
    *nonce = high << 32 | middle << 16 | low << 4 | last;
    *index = found;
    return true;
}
