/* SPDX-License-Identifier: Apache-2.0 */
/* A pull scanner for JSON: it returns one token at a time, and allocates no memory. It is meant for
 * data that is too large for a tree, and for hot paths. It accepts what json_parse accepts
 * (JSON_DEPTH_LIMIT levels, strict syntax, UTF-8, integers that fit int64_t, other numbers that fit
 * double, no NUL inside strings) and, in addition, objects with duplicate keys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

enum json_scan_token {
    JSON_SCAN_FAILED, /* the JSON is invalid: see json_scan_fail; later calls also return FAILED */
    JSON_SCAN_DONE,   /* the document is complete and nothing follows it */
    JSON_SCAN_OBJECT,
    JSON_SCAN_OBJECT_END,
    JSON_SCAN_ARRAY,
    JSON_SCAN_ARRAY_END,
    JSON_SCAN_KEY, /* the member's value begins with the next token */
    JSON_SCAN_STRING,
    JSON_SCAN_NUMBER,
    JSON_SCAN_TRUE,
    JSON_SCAN_FALSE,
    JSON_SCAN_NULL,
};

struct json_scan {
    /* The latest token, inside the scanned bytes. For a KEY or STRING, this is the part between the
     * quotes, still escaped. */
    const char *text;
    size_t length;
    bool escaped; /* the latest KEY or STRING contains a backslash */
    /* Can be set after json_scan_init. NaN, Infinity and -Infinity, which Python's json module
     * writes, are then read as null. */
    bool takes_nan;

    /* Private to json_scan.c: */
    const char *start, *at, *end, *problem;
    uint64_t objects; /* one bit per level: 1 for an object, 0 for an array */
    unsigned depth;
    int expected;
};

/* Begins to scan the bytes, which must stay valid as long as the scanner is used. */
void json_scan_init(struct json_scan *scan, const char *bytes, size_t length);
enum json_scan_token json_scan_next(struct json_scan *scan);

/* Skips the next value, of any type, and sets *bytes and *length to the value as written (either
 * pointer can be NULL). Use it for a whole document, for the value of a key, or to iterate over an
 * array. Returns false when it has consumed the end of an array, or if the JSON is invalid, which
 * the next json_scan_next reports. */
bool json_scan_value(struct json_scan *scan, const char **bytes, size_t *length);

/* Whether the latest token, a KEY or STRING, is `string` when unescaped. */
bool json_scan_is(const struct json_scan *scan, const char *string);
/* Copies the latest KEY or STRING to `out`, unescaped. If this takes more than size-1 bytes,
 * makes `out` empty and returns false. */
bool json_scan_copy(const struct json_scan *scan, char *out, size_t size);
/* The latest NUMBER; json_scan_integer returns false if it was written with a fraction or
 * exponent. */
double json_scan_number(const struct json_scan *scan);
bool json_scan_integer(const struct json_scan *scan, int64_t *out);

/* The number of bytes before the first one that is not ASCII or that a JSON string must escape: a
 * quote, a backslash, or a byte below 0x20. */
size_t json_scan_plain_length(const char *bytes, size_t length);

bool json_scan_failed(const struct json_scan *scan);
/* Call it after JSON_SCAN_FAILED, or after a token that you did not expect. Sets an error that says
 * what is wrong, and at which byte, and returns false. */
CHECKED bool json_scan_fail(const struct json_scan *scan, struct error *error);
