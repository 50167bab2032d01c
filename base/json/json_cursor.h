/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON text from left to right without building anything, for hot paths. To be fast,
 * it also refuses some valid JSON, for which callers use jansson: numbers with exponents or more
 * than 15 digits before the point, escaped keys, and escapes of NUL or surrogates. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct json_cursor {
    const char *at, *end;
};

/* The inside of a string, still escaped. */
struct json_span {
    const char *start;
    size_t length;
    bool escaped; /* it contains a backslash */
};

static inline void json_skip_blanks(struct json_cursor *cursor)
{
    while (cursor->at < cursor->end
           && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r'
               || *cursor->at == '\n'))
        cursor->at++;
}

/* Skips blanks and then `c`; if `c` is not there, skips only the blanks and returns false. */
static inline bool json_skip_char(struct json_cursor *cursor, char c)
{
    json_skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static inline bool json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Moves past the number that begins at the current byte; the cursor must not be at the end. */
bool json_take_number(struct json_cursor *cursor);
/* Reads a string with its quotes, after blanks. */
bool json_take_string(struct json_cursor *cursor, struct json_span *out);
bool json_take_null(struct json_cursor *cursor);
/* Skips any value. Returns false if it is malformed, refused as described above, or nested deeper
 * than 16 levels, counted from `depth`. */
bool json_skip_value(struct json_cursor *cursor, int depth);
