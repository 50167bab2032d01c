/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON text from left to right without building a tree, for hot paths. To be fast, it also
 * refuses some valid JSON, which callers then parse with jansson: numbers with an exponent or more
 * than 15 digits before the point, keys with escapes, escapes that stand for NUL or surrogates, and
 * values inside more than 16 levels. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct json_cursor {
    const char *at, *end;
};

/* The part of a string between its quotes, still escaped. */
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

/* Skips whitespace and then `c`. If `c` does not follow, skips only the whitespace and returns
 * false. */
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
/* Skips whitespace, and then a string with its quotes. Sets *out to the part between the quotes. */
bool json_take_string(struct json_cursor *cursor, struct json_span *out);
bool json_take_null(struct json_cursor *cursor);
/* Skips any value. `depth` is the number of levels around it. Returns false if the value is
 * malformed, or is refused for a reason given at the top of this file. */
bool json_skip_value(struct json_cursor *cursor, int depth);
