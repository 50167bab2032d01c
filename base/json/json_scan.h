/* SPDX-License-Identifier: Apache-2.0 */
/* A pull scanner over JSON bytes: one token after the other, without allocation, for data too large
 * or code too hot for a tree. It accepts what json_parse accepts (JSON_DEPTH_LIMIT levels, strict
 * syntax, UTF-8, numbers that fit a type, no NUL inside strings), except that a key may occur twice
 * in an object. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

enum json_scan_token {
    JSON_SCAN_FAILED, /* also returned by every later call: see json_scan_fail */
    JSON_SCAN_DONE,   /* the document is complete and nothing follows it */
    JSON_SCAN_OBJECT,
    JSON_SCAN_OBJECT_END,
    JSON_SCAN_ARRAY,
    JSON_SCAN_ARRAY_END,
    JSON_SCAN_KEY, /* the member's value is the next token */
    JSON_SCAN_STRING,
    JSON_SCAN_NUMBER,
    JSON_SCAN_TRUE,
    JSON_SCAN_FALSE,
    JSON_SCAN_NULL,
};

struct json_scan {
    /* of the last token, within the bytes scanned: a KEY's or STRING's characters between the
     * quotes, still escaped; the whole of any other token */
    const char *text;
    size_t length;
    bool escaped; /* it contains a backslash */
    /* Set after json_scan_init: NaN, Infinity and -Infinity, which Python's json writes, are read
     * as null */
    bool takes_nan;
    /* The rest is private. */
    const char *start, *at, *end, *problem;
    uint64_t objects; /* a bit per level: object or array */
    unsigned depth;
    int expected;
};

/* The bytes are borrowed until the last call. */
void json_scan_init(struct json_scan *scan, const char *bytes, size_t length);
enum json_scan_token json_scan_next(struct json_scan *scan);

/* Skips the next value of any type; *bytes and *length (may be NULL) are the value as written. Use
 * it for the value of a key, or to iterate over an array: false at its end, which is then consumed,
 * or if the JSON is invalid, which the next json_scan_next reports. */
bool json_scan_value(struct json_scan *scan, const char **bytes, size_t *length);

/* Whether the last token, a KEY or STRING, equals `text` once unescaped. */
bool json_scan_is(const struct json_scan *scan, const char *string);
/* Copies the last KEY or STRING unescaped; false, and out empty, if it has more than size-1 bytes.
 */
bool json_scan_copy(const struct json_scan *scan, char *out, size_t size);
/* The last NUMBER; json_scan_integer returns false if it was written with a fraction or exponent.
 */
double json_scan_number(const struct json_scan *scan);
bool json_scan_integer(const struct json_scan *scan, int64_t *out);

/* The number of bytes at the front that a JSON string contains unescaped: ASCII except for control
 * characters, quotes and backslashes. Most of every string. */
size_t json_scan_plain_length(const char *bytes, size_t length);

bool json_scan_failed(const struct json_scan *scan);
/* After JSON_SCAN_FAILED: reports what is wrong, and at which byte. Returns false. */
CHECKED bool json_scan_fail(const struct json_scan *scan, struct error *error);
