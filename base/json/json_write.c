/* SPDX-License-Identifier: Apache-2.0 */
/* Writes compact JSON: the same bytes as jansson, but in a fraction of the time. This matters
 * because opsbrain writes nearly all of its answers with this code. */
#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/json/json.h"
#include "base/json/json_scan.h"

/* With 15 digits, numbers such as 0.1 keep their form, and a number that is written, read and
 * written again has the same digits. Digests rely on this. */
#define WRITE_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

/* ---- Strings --------------------------------------------------------------------------------- */

static void add_escaped(struct text *text, unsigned char c)
{
    static const char names[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
    const char *name = c != '\0' ? strchr(names, c) : NULL;

    if (name == NULL) {
        text_addf(text, "\\u%04X", c);
        return;
    }
    text_add_char(text, '\\');
    text_add_char(text, escapes[name - names]);
}

/* Writes the next character, as an escape or as UTF-8; for an invalid byte, writes U+FFFD. Returns
 * the number of bytes read. */
static size_t add_special(struct text *text, const char *string, size_t length)
{
    size_t size = text_utf8_sequence(string, length);

    if (size == 0)
        text_add(text, "\xef\xbf\xbd");
    else if (size == 1)
        add_escaped(text, (unsigned char)*string);
    else
        text_add_bytes(text, string, size);
    return size > 0 ? size : 1;
}

void json_add_string(struct text *text, const char *string, size_t length)
{
    text_add_char(text, '"');
    for (size_t at = 0; at < length;) {
        size_t plain = json_scan_plain_length(string + at, length - at);

        text_add_bytes(text, string + at, plain);
        at += plain;
        if (at < length)
            at += add_special(text, string + at, length - at);
    }
    text_add_char(text, '"');
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void add_object(struct text *text, const json_t *object)
{
    json_t *members = json_iterable(object), *value;
    const char *key;
    size_t length;
    bool first = true;

    text_add_char(text, '{');
    json_object_keylen_foreach(members, key, length, value) {
        if (!first)
            text_add_char(text, ',');
        first = false;
        json_add_string(text, key, length);
        text_add_char(text, ':');
        json_add(text, value);
    }
    text_add_char(text, '}');
}

static void add_array(struct text *text, const json_t *array)
{
    json_t *item;
    size_t i;

    text_add_char(text, '[');
    json_array_foreach(array, i, item) {
        if (i > 0)
            text_add_char(text, ',');
        json_add(text, item);
    }
    text_add_char(text, ']');
}

/* Writes the number as jansson does: always with a point or an exponent. */
static void add_real(struct text *text, const json_t *value)
{
    char written[40];

    text_add_bytes(text, written, json_dumpb(value, written, sizeof written, WRITE_FLAGS));
}

void json_add(struct text *text, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        add_object(text, value);
        break;
    case JSON_ARRAY:
        add_array(text, value);
        break;
    case JSON_STRING:
        json_add_string(text, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        text_add_integer(text, json_integer_value(value));
        break;
    case JSON_REAL:
        add_real(text, value);
        break;
    case JSON_TRUE:
        text_add(text, "true");
        break;
    case JSON_FALSE:
        text_add(text, "false");
        break;
    case JSON_NULL:
        text_add(text, "null");
        break;
    }
}

char *json_write(const json_t *value)
{
    struct text text = { 0 };

    json_add(&text, value);
    return text_take(&text);
}

char *json_write_canonical(const json_t *value)
{
    char *written = json_dumps(value, WRITE_FLAGS | JSON_SORT_KEYS);

    if (written == NULL) { /* memory ran out: nothing else can fail here */
        log_error("out of memory while writing JSON");
        abort();
    }
    return written;
}
