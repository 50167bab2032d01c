/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_scan.h"

#include <math.h>
#include <string.h>

#include "base/core/eight_bytes.h"
#include "base/json/json.h"
#include "base/json/json_token.h"

enum expected {
    VALUE,
    VALUE_OR_END, /* directly after '[' */
    KEY,
    KEY_OR_END, /* directly after '{' */
    COMMA_OR_END,
    NOTHING, /* the document is complete */
};

_Static_assert(JSON_DEPTH_LIMIT == 64,
               "json_scan keeps one bit per level in a uint64_t, and its error message says 64");

void json_scan_init(struct json_scan *scan, const char *bytes, size_t length)
{
    *scan = (struct json_scan){ .start = bytes, .at = bytes, .end = bytes + length };
}

static enum json_scan_token fail(struct json_scan *scan, const char *problem)
{
    if (scan->problem == NULL)
        scan->problem = problem;
    return JSON_SCAN_FAILED;
}

static enum json_scan_token fail_here(struct json_scan *scan)
{
    return fail(scan, scan->at == scan->end ? "it ends too early" : "unexpected character");
}

static void skip_space(struct json_scan *scan)
{
    while (scan->at < scan->end
           && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
}

static bool skip_char(struct json_scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool in_object(const struct json_scan *scan)
{
    return scan->depth > 0 && (scan->objects >> (scan->depth - 1) & 1) != 0;
}

static void end_value(struct json_scan *scan)
{
    scan->expected = scan->depth > 0 ? COMMA_OR_END : NOTHING;
}

static enum json_scan_token open(struct json_scan *scan, bool object)
{
    uint64_t bit = UINT64_C(1) << (scan->depth % 64);

    if (scan->depth == JSON_DEPTH_LIMIT)
        return fail(scan, "it is nested deeper than 64 levels");
    scan->text = scan->at++;
    scan->length = 1;
    scan->objects = object ? scan->objects | bit : scan->objects & ~bit;
    scan->depth++;
    scan->expected = object ? KEY_OR_END : VALUE_OR_END;
    return object ? JSON_SCAN_OBJECT : JSON_SCAN_ARRAY;
}

static enum json_scan_token close(struct json_scan *scan)
{
    bool object = in_object(scan);

    scan->text = scan->at - 1;
    scan->length = 1;
    scan->depth--;
    end_value(scan);
    return object ? JSON_SCAN_OBJECT_END : JSON_SCAN_ARRAY_END;
}

/* The length of the next character in a string; 0 if that character is not allowed. Must not be
 * called at the closing quote. */
static size_t check_character(struct json_scan *scan)
{
    unsigned char c = (unsigned char)*scan->at;
    size_t length;

    if (c == '\\') {
        scan->escaped = true;
        if (json_escape_read(scan->at + 1, scan->end, &length) >= 0)
            return length + 1;
        fail(scan, "a string has an escape that is invalid or stands for a lone surrogate or NUL");
        return 0;
    }
    length = c < 0x20 ? 0 : text_utf8_sequence(scan->at, (size_t)(scan->end - scan->at));
    if (length == 0)
        fail(scan, c < 0x20 ? "a string has a control character" : "it is not UTF-8");
    return length;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

size_t json_scan_plain_length(const char *bytes, size_t length)
{
    size_t at = 0;

    for (; length - at >= 8; at += 8) {
        uint64_t eight = eight_bytes(bytes + at);
        uint64_t others = bytes_below(eight, 0x20) | bytes_equal(eight, '"')
                          | bytes_equal(eight, '\\') | bytes_beyond_ascii(eight);

        if (others != 0)
            return at + bytes_before(others);
    }
    while (at < length && is_plain((unsigned char)bytes[at]))
        at++;
    return at;
}

static void skip_plain(struct json_scan *scan)
{
    scan->at += json_scan_plain_length(scan->at, (size_t)(scan->end - scan->at));
}

static bool read_string(struct json_scan *scan)
{
    scan->at++; /* the quote */
    scan->text = scan->at;
    scan->escaped = false;
    for (skip_plain(scan); scan->at < scan->end && *scan->at != '"'; skip_plain(scan)) {
        size_t length = check_character(scan);

        if (length == 0)
            return false;
        scan->at += length;
    }
    scan->length = (size_t)(scan->at - scan->text);
    if (skip_char(scan, '"'))
        return true;
    fail_here(scan);
    return false;
}

static enum json_scan_token read_key(struct json_scan *scan)
{
    if (scan->at == scan->end || *scan->at != '"')
        return fail_here(scan);
    if (!read_string(scan))
        return JSON_SCAN_FAILED;
    skip_space(scan);
    if (!skip_char(scan, ':'))
        return fail_here(scan);
    scan->expected = VALUE;
    return JSON_SCAN_KEY;
}

static size_t skip_digits(struct json_scan *scan)
{
    const char *first = scan->at;

    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return (size_t)(scan->at - first);
}

/* Skips -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool skip_number(struct json_scan *scan)
{
    skip_char(scan, '-');
    if (!skip_char(scan, '0') && skip_digits(scan) == 0)
        return false;
    if (skip_char(scan, '.') && skip_digits(scan) == 0)
        return false;
    if (skip_char(scan, 'e') || skip_char(scan, 'E')) {
        if (!skip_char(scan, '+'))
            skip_char(scan, '-');
        return skip_digits(scan) > 0;
    }
    return true;
}

/* Whether the number fits int64_t or, if it has a fraction or an exponent, double. A number of
 * fewer than 300 bytes can be too large for a double only if it has an exponent. */
static bool fits_a_type(const char *text, size_t length)
{
    int64_t integer;

    if (json_number_is_integer(text, length))
        return json_number_to_integer(text, length, &integer);
    if (length < 300 && memchr(text, 'e', length) == NULL && memchr(text, 'E', length) == NULL)
        return true;
    return isfinite(json_number_to_real(text, length));
}

static enum json_scan_token read_number(struct json_scan *scan)
{
    const char *text = scan->at;
    size_t length;

    if (!skip_number(scan))
        return fail_here(scan);
    length = (size_t)(scan->at - text);
    if (!fits_a_type(text, length)) {
        scan->at = text;
        return fail(scan, "a number is too large");
    }
    scan->text = text;
    scan->length = length;
    end_value(scan);
    return JSON_SCAN_NUMBER;
}

static enum json_scan_token read_word(struct json_scan *scan, const char *word,
                                      enum json_scan_token token)
{
    size_t length = strlen(word);

    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, word, length) != 0)
        return fail_here(scan);
    scan->text = scan->at;
    scan->length = length;
    scan->at += length;
    end_value(scan);
    return token;
}

/* Reads NaN, Infinity or -Infinity, which are not JSON, as null. If anything else comes next, or
 * `takes_nan` is not set, returns FAILED without setting scan->problem. */
static enum json_scan_token read_nan(struct json_scan *scan)
{
    static const char *const words[] = { "NaN", "Infinity", "-Infinity" };

    for (size_t i = 0; scan->takes_nan && i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);

        if ((size_t)(scan->end - scan->at) >= length && memcmp(scan->at, words[i], length) == 0)
            return read_word(scan, words[i], JSON_SCAN_NULL);
    }
    return JSON_SCAN_FAILED;
}

static enum json_scan_token read_value(struct json_scan *scan)
{
    switch (scan->at < scan->end ? *scan->at : '\0') {
    case '{':
        return open(scan, true);
    case '[':
        return open(scan, false);
    case 't':
        return read_word(scan, "true", JSON_SCAN_TRUE);
    case 'f':
        return read_word(scan, "false", JSON_SCAN_FALSE);
    case 'n':
        return read_word(scan, "null", JSON_SCAN_NULL);
    case '"':
        if (!read_string(scan))
            return JSON_SCAN_FAILED;
        end_value(scan);
        return JSON_SCAN_STRING;
    case 'N':
    case 'I':
    case '-':
        if (read_nan(scan) == JSON_SCAN_NULL)
            return JSON_SCAN_NULL;
        return read_number(scan);
    default:
        return read_number(scan);
    }
}

static enum json_scan_token read_after_value(struct json_scan *scan)
{
    bool object = in_object(scan);

    if (skip_char(scan, object ? '}' : ']'))
        return close(scan);
    if (!skip_char(scan, ','))
        return fail_here(scan);
    skip_space(scan);
    scan->expected = object ? KEY : VALUE;
    return object ? read_key(scan) : read_value(scan);
}

enum json_scan_token json_scan_next(struct json_scan *scan)
{
    if (scan->problem != NULL)
        return JSON_SCAN_FAILED;
    skip_space(scan);
    switch ((enum expected)scan->expected) {
    case VALUE_OR_END:
        if (skip_char(scan, ']'))
            return close(scan);
        return read_value(scan);
    case VALUE:
        return read_value(scan);
    case KEY_OR_END:
        if (skip_char(scan, '}'))
            return close(scan);
        return read_key(scan);
    case KEY:
        return read_key(scan);
    case COMMA_OR_END:
        return read_after_value(scan);
    case NOTHING:
        break;
    }
    if (scan->at == scan->end)
        return JSON_SCAN_DONE;
    return fail(scan, "there is more text after the document");
}

bool json_scan_value(struct json_scan *scan, const char **bytes, size_t *length)
{
    unsigned depth = scan->depth;
    enum json_scan_token token = json_scan_next(scan);
    const char *first = token == JSON_SCAN_STRING ? scan->text - 1 : scan->text;

    if (token == JSON_SCAN_FAILED || token == JSON_SCAN_DONE || token == JSON_SCAN_KEY
        || token == JSON_SCAN_OBJECT_END || token == JSON_SCAN_ARRAY_END)
        return false;
    while (scan->depth > depth)
        if (json_scan_next(scan) == JSON_SCAN_FAILED)
            return false;
    if (bytes != NULL)
        *bytes = first;
    if (length != NULL)
        *length = (size_t)(scan->at - first);
    return true;
}

/* Writes `code` as UTF-8; returns the number of bytes. */
static size_t write_character(int32_t code, char out[4])
{
    static const int first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(first[length] | code);
    return length;
}

/* Copies the next byte of a string that was already checked; if it begins an escape, writes the
 * character that the escape stands for. Moves *text past what was read; returns the number of bytes
 * written. */
static size_t next_character(const char **text, const char *end, char out[4])
{
    size_t length;
    int32_t code;

    if (**text != '\\') {
        out[0] = *(*text)++;
        return 1;
    }
    code = json_escape_read(*text + 1, end, &length);
    *text += length + 1;
    return write_character(code, out);
}

bool json_scan_is(const struct json_scan *scan, const char *string)
{
    const char *text = scan->text, *end = text + scan->length;
    char character[4];

    if (!scan->escaped)
        return strlen(string) == scan->length && memcmp(string, text, scan->length) == 0;
    while (text < end) {
        size_t length = next_character(&text, end, character);

        if (strncmp(string, character, length) != 0)
            return false;
        string += length;
    }
    return *string == '\0';
}

bool json_scan_copy(const struct json_scan *scan, char *out, size_t size)
{
    const char *text = scan->text, *end = text + scan->length;
    size_t copied = 0;
    char character[4];

    while (text < end) {
        size_t length = next_character(&text, end, character);

        if (copied + length >= size) {
            out[0] = '\0';
            return false;
        }
        memcpy(out + copied, character, length);
        copied += length;
    }
    out[copied] = '\0';
    return true;
}

double json_scan_number(const struct json_scan *scan)
{
    return json_number_to_real(scan->text, scan->length);
}

bool json_scan_integer(const struct json_scan *scan, int64_t *out)
{
    return json_number_is_integer(scan->text, scan->length)
           && json_number_to_integer(scan->text, scan->length, out);
}

bool json_scan_failed(const struct json_scan *scan)
{
    return scan->problem != NULL;
}

bool json_scan_fail(const struct json_scan *scan, struct error *error)
{
    return error_set(error, ERROR_INVALID, "the JSON is wrong at byte %zu: %s",
                     (size_t)(scan->at - scan->start),
                     scan->problem != NULL ? scan->problem : "a different value was expected");
}
