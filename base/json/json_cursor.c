/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_cursor.h"

#include <string.h>

#include "base/core/text.h"

#define DEPTH_LIMIT 16
#define DIGITS_LIMIT 15 /* integers with this many digits fit int64_t and are exact as doubles */

static bool take_word(struct json_cursor *cursor, const char *word)
{
    size_t length = strlen(word);

    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool is_hex(char c)
{
    return json_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Skips the part of an escape that follows its backslash. Refuses surrogates (d800 to dfff) and
 * NUL, which are left to jansson. */
static bool skip_escape(struct json_cursor *cursor)
{
    const char *hex = cursor->at + 1;

    if (cursor->at == cursor->end)
        return false;
    if (*cursor->at != '\0' && strchr("\"\\/bfnrt", *cursor->at) != NULL) {
        cursor->at++;
        return true;
    }
    if (*cursor->at != 'u' || cursor->end - hex < 4)
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_hex(hex[i]))
            return false;
    if (memcmp(hex, "0000", 4) == 0 || ((hex[0] | 0x20) == 'd' && hex[1] >= '8'))
        return false;
    cursor->at = hex + 4;
    return true;
}

static bool is_plain(char c)
{
    return (signed char)c >= 0x20 && c != '"' && c != '\\';
}

/* Skips an escape, or a UTF-8 sequence of several bytes. Returns false if neither comes
 * next, or if skip_escape refuses the escape. */
static bool skip_special(struct json_cursor *cursor, struct json_span *out)
{
    size_t size;

    if (*cursor->at == '\\') {
        cursor->at++;
        out->escaped = true;
        return skip_escape(cursor);
    }
    size = (unsigned char)*cursor->at < 0x80
               ? 0
               : text_utf8_sequence(cursor->at, (size_t)(cursor->end - cursor->at));
    cursor->at += size;
    return size > 0;
}

bool json_take_string(struct json_cursor *cursor, struct json_span *out)
{
    if (!json_skip_char(cursor, '"'))
        return false;
    *out = (struct json_span){ .start = cursor->at };
    for (;;) {
        while (cursor->at < cursor->end && is_plain(*cursor->at))
            cursor->at++;
        if (cursor->at == cursor->end)
            return false;
        if (*cursor->at == '"')
            break;
        if (!skip_special(cursor, out))
            return false;
    }
    out->length = (size_t)(cursor->at++ - out->start);
    return true;
}

static size_t skip_digits(struct json_cursor *cursor)
{
    const char *start = cursor->at;

    while (cursor->at < cursor->end && json_is_digit(*cursor->at))
        cursor->at++;
    return (size_t)(cursor->at - start);
}

bool json_take_number(struct json_cursor *cursor)
{
    const char *start;
    size_t digits;

    if (*cursor->at == '-')
        cursor->at++;
    start = cursor->at;
    digits = skip_digits(cursor);
    if (digits == 0 || digits > DIGITS_LIMIT || (digits > 1 && *start == '0'))
        return false;
    if (cursor->at < cursor->end && *cursor->at == '.') {
        cursor->at++;
        if (skip_digits(cursor) == 0)
            return false;
    }
    return cursor->at == cursor->end || (*cursor->at != 'e' && *cursor->at != 'E');
}

static bool skip_members(struct json_cursor *cursor, int depth)
{
    struct json_span key;

    if (json_skip_char(cursor, '}'))
        return true;
    do {
        if (!json_take_string(cursor, &key) || key.escaped || !json_skip_char(cursor, ':')
            || !json_skip_value(cursor, depth))
            return false;
    } while (json_skip_char(cursor, ','));
    return json_skip_char(cursor, '}');
}

static bool skip_elements(struct json_cursor *cursor, int depth)
{
    if (json_skip_char(cursor, ']'))
        return true;
    do {
        if (!json_skip_value(cursor, depth))
            return false;
    } while (json_skip_char(cursor, ','));
    return json_skip_char(cursor, ']');
}

bool json_skip_value(struct json_cursor *cursor, int depth)
{
    struct json_span string;

    json_skip_blanks(cursor);
    if (cursor->at == cursor->end || depth > DEPTH_LIMIT)
        return false;
    switch (*cursor->at) {
    case '"':
        return json_take_string(cursor, &string);
    case '{':
        cursor->at++;
        return skip_members(cursor, depth + 1);
    case '[':
        cursor->at++;
        return skip_elements(cursor, depth + 1);
    case 'n':
        return take_word(cursor, "null");
    case 't':
        return take_word(cursor, "true");
    case 'f':
        return take_word(cursor, "false");
    default:
        return (*cursor->at == '-' || json_is_digit(*cursor->at)) && json_take_number(cursor);
    }
}

bool json_take_null(struct json_cursor *cursor)
{
    json_skip_blanks(cursor);
    return take_word(cursor, "null");
}
