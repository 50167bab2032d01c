/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/http_text.h"

#include <stdint.h>

#include "base/core/eight_bytes.h"

#define TEXT (HTTP_TARGET | HTTP_VALUE)
#define TOKEN (HTTP_TOKEN | TEXT)

/* The classes of each byte (RFC 9110, 5.5 and 5.6.2). Non-ASCII bytes are obsolete, but
 * harmless. */
static const uint8_t classes[256] = {
    ['\t'] = HTTP_VALUE,    [' '] = HTTP_VALUE,   ['!'] = TOKEN,         ['"'] = TEXT,
    ['#' ... '\''] = TOKEN, ['(' ... ')'] = TEXT, ['*' ... '+'] = TOKEN, [','] = TEXT,
    ['-' ... '.'] = TOKEN,  ['/'] = TEXT,         ['0' ... '9'] = TOKEN, [':' ... '@'] = TEXT,
    ['A' ... 'Z'] = TOKEN,  ['[' ... ']'] = TEXT, ['^' ... 'z'] = TOKEN, ['{'] = TEXT,
    ['|'] = TOKEN,          ['}'] = TEXT,         ['~'] = TOKEN,         [0x80 ... 0xff] = TEXT,
};

/* Marks the bytes that are neither letters nor "-" by setting their highest bits in the result;
 * most header names have only letters and "-". The marks after a non-ASCII byte can be wrong,
 * because the addition carries into the next byte. */
static uint64_t find_others(uint64_t eight)
{
    uint64_t lower = eight | EACH_BYTE(0x20);
    uint64_t is_letter = (lower + EACH_BYTE(0x80 - 'a')) & ~(lower + EACH_BYTE(0x7f - 'z'));

    return ((~is_letter & ~bytes_equal(eight, '-')) | eight) & HIGH_BITS;
}

const char *http_pass(const char *at, const char *end, unsigned class)
{
    while (class == HTTP_TOKEN && end - at >= 8) {
        uint64_t others = find_others(eight_bytes(at));

        at += others == 0 ? 8 : bytes_before(others);
        if (others != 0)
            break;
    }
    while (at < end && (classes[(uint8_t)*at] & class) != 0)
        at++;
    return at;
}

/* Examines eight bytes at a time. */
const char *http_pass_text(const char *at, const char *end, unsigned class)
{
    uint8_t least = class == HTTP_TARGET ? '!' : ' ';

    while (end - at >= 8) {
        uint64_t eight = eight_bytes(at);
        uint64_t controls = bytes_below(eight, least) | bytes_equal(eight, 0x7f);

        if (controls == 0) {
            at += 8;
            continue;
        }
        at += bytes_before(controls);
        if ((classes[(uint8_t)*at] & class) == 0)
            return at;
        at++; /* a tab */
    }
    return http_pass(at, end, class);
}
