/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON, even from hostile sources, into jansson values, and writes jansson values as JSON. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/core/error.h"
#include "base/core/text.h"

#define JSON_DEPTH_LIMIT 64

/* Parses one document. INVALID, with the position of the error, if the JSON is malformed or has
 * more than JSON_DEPTH_LIMIT levels, duplicate keys, invalid UTF-8, NUL (escaped or not), integers
 * of more than 64 bits, numbers too large for a double, or anything after the document. *out is a
 * new reference. */
CHECKED bool json_parse(const char *bytes, size_t length, json_t **out, struct error *error);
/* The same, but only with jansson's reader, which is slower. When json_parse's own reader refuses
 * the bytes, json_parse calls this function to get an error message. */
CHECKED bool json_parse_by_jansson(const char *bytes, size_t length, json_t **out,
                                   struct error *error);

/* Casts away const, because jansson iterates only over mutable objects. The caller must not change
 * the object. */
static inline json_t *json_iterable(const json_t *value)
{
    return (json_t *)(uintptr_t)value;
}

/* Member access that never fails: returns the fallback if the member is missing or has a different
 * type. Strings are borrowed. */
const char *json_get_text(const json_t *object, const char *name, const char *fallback);
int64_t json_get_integer(const json_t *object, const char *name, int64_t fallback);
double json_get_number(const json_t *object, const char *name, double fallback);
bool json_get_boolean(const json_t *object, const char *name, bool fallback);
bool json_is_blank(const json_t *value); /* null, false, 0, "", [] or {} */
void json_drop_blank(json_t *object);    /* removes blank members */

/* Writes compact JSON: keys in insertion order, reals with up to 15 digits. The caller frees the
 * result. */
char *json_write(const json_t *value) __attribute__((malloc));
/* The same, but with sorted keys, because digests are computed from the result. */
char *json_write_canonical(const json_t *value) __attribute__((malloc));
/* Appends the result of json_write. */
void json_add(struct text *text, const json_t *value);
/* Appends `string` as a JSON string, including the quotes. Invalid UTF-8 becomes U+FFFD. */
void json_add_string(struct text *text, const char *string, size_t length);
/* Returns a JSON number, or null if the value is not finite; -0 becomes 0. New reference. */
json_t *json_number_or_null(double value);
