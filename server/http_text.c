#include "server/http_text.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define TEXT (HTTP_TARGET | HTTP_VALUE)
#define TOKEN (HTTP_TOKEN | TEXT)

/* RFC 9110, 5.5 and 5.6.2. Nobody should write bytes beyond ASCII any more, but they do no harm. */
static const uint8_t classes[256] = {
    ['\t'] = HTTP_VALUE,    [' '] = HTTP_VALUE,   ['!'] = TOKEN,         ['"'] = TEXT,
    ['#' ... '\''] = TOKEN, ['(' ... ')'] = TEXT, ['*' ... '+'] = TOKEN, [','] = TEXT,
    ['-' ... '.'] = TOKEN,  ['/'] = TEXT,         ['0' ... '9'] = TOKEN, [':' ... '@'] = TEXT,
    ['A' ... 'Z'] = TOKEN,  ['[' ... ']'] = TEXT, ['^' ... 'z'] = TOKEN, ['{'] = TEXT,
    ['|'] = TOKEN,          ['}'] = TEXT,         ['~'] = TOKEN,         [0x80 ... 0xff] = TEXT,
};

const char *http_pass(const char *at, const char *end, unsigned class)
{
    while (at < end && (classes[(uint8_t)*at] & class) != 0)
        at++;
    return at;
}

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (uint8_t)(value))

/* The high bit of the bytes that are below `least` or DEL; what comes after the first such byte may
 * be wrong. `least` is at most 0x80. */
static uint64_t find_controls(const char *bytes, char least)
{
    uint64_t eight, deleted;

    memcpy(&eight, bytes, sizeof eight);
    eight = le64toh(eight);
    deleted = eight ^ EACH_BYTE(0x7f);
    return (((eight - EACH_BYTE(least)) & ~eight) | ((deleted - EACH_BYTE(1)) & ~deleted))
           & EACH_BYTE(0x80);
}

/* Eight bytes at once. */
const char *http_pass_text(const char *at, const char *end, unsigned class)
{
    char least = class == HTTP_TARGET ? '!' : ' ';

    while (end - at >= 8) {
        uint64_t controls = find_controls(at, least);

        if (controls == 0) {
            at += 8;
            continue;
        }
        at += __builtin_ctzll(controls) / 8;
        if ((classes[(uint8_t)*at] & class) == 0)
            return at;
        at++; /* a tab */
    }
    return http_pass(at, end, class);
}
