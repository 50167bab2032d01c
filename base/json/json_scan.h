/* SPDX-License-Identifier: Apache-2.0 */
/* A pull scanner over JSON bytes: one token after the other, without allocation, for what is too
 * large or too hot for a tree. It accepts what json_parse accepts (JSON_DEPTH_LIMIT levels, strict
 * syntax, UTF-8, numbers that a type holds, no NUL inside strings), except that it lets a key come
 * twice in an object. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

enum json_scan_token {
    JSON_SCAN_FAILED, /* and ever after: see json_scan_fail */
    JSON_SCAN_DONE,   /* the document is whole and nothing stands behind it */
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
     * quotes, still escaped; all of another token */
    const char *text;
    size_t length;
    bool escaped; /* there is a backslash in it */
    /* Set after json_scan_init: NaN, Infinity and -Infinity, which Python's json writes, are null.
     */
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

/* Passes over the next value, whatever it is; *bytes and *length (may be NULL) are all of it as it
 * is written. For the value of a key, and to go through an array: false at its end, which is then
 * passed, or if the JSON is wrong, which the next json_scan_next tells. */
bool json_scan_value(struct json_scan *scan, const char **bytes, size_t *length);

/* Is the last token, a KEY or STRING, this once unescaped? */
bool json_scan_is(const struct json_scan *scan, const char *string);
/* Copies the last KEY or STRING unescaped; false, and out empty, if it has more than size-1 bytes.
 */
bool json_scan_copy(const struct json_scan *scan, char *out, size_t size);
/* The last NUMBER; json_scan_integer is false if it is written with a fraction or exponent. */
double json_scan_number(const struct json_scan *scan);
bool json_scan_integer(const struct json_scan *scan, int64_t *out);

bool json_scan_failed(const struct json_scan *scan);
/* After JSON_SCAN_FAILED: what is wrong, and at which byte. Returns false. */
CHECKED bool json_scan_fail(const struct json_scan *scan, struct error *error);
