/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/net/credential.h"

#define EXACT_DOUBLE_MAX 9007199254740992.0 /* 2^53: whole numbers up to here are exact */

static bool is_text(const json_t *value)
{
    return json_is_string(value);
}

/* JSON Schema counts 4.0 as a whole number. */
static bool is_integer(const json_t *value)
{
    double number = json_number_value(value);

    if (json_is_integer(value))
        return true;
    return json_is_real(value) && trunc(number) == number && fabs(number) <= EXACT_DOUBLE_MAX;
}

static bool is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool is_boolean(const json_t *value)
{
    return json_is_boolean(value);
}

static bool is_integers(const json_t *value)
{
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item)
        if (!is_integer(item))
            return false;
    return json_is_array(value);
}

static bool is_numbers(const json_t *value)
{
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item)
        if (!json_is_number(item))
            return false;
    return json_is_array(value);
}

static bool is_texts(const json_t *value)
{
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item)
        if (!json_is_string(item))
            return false;
    return json_is_array(value);
}

static bool is_text_map(const json_t *value)
{
    const char *key;
    json_t *item;

    json_object_foreach(json_iterable(value), key, item)
        if (!json_is_string(item))
            return false;
    return json_is_object(value);
}

static bool is_object(const json_t *value)
{
    return json_is_object(value);
}

static bool is_list(const json_t *value)
{
    return json_is_array(value);
}

static const struct value_kind kinds[] = {
    [VALUE_TEXT] = { "string", "a string", is_text },
    [VALUE_INTEGER] = { "integer", "a whole number", is_integer },
    [VALUE_NUMBER] = { "number", "a number", is_number },
    [VALUE_BOOLEAN] = { "boolean", "true or false", is_boolean },
    [VALUE_CHOICE] = { "string", "a string", is_text },
    [VALUE_INTEGERS] = { "array", "a list of whole numbers, such as [1, 4, 16]", is_integers },
    [VALUE_NUMBERS] = { "array", "a list of numbers, such as [0.5, 2, 10]", is_numbers },
    [VALUE_TEXTS] = { "array", "a list of strings, such as [\"model\", \"engine\"]", is_texts },
    [VALUE_TEXT_MAP] = { "object", "a list of name=value strings, such as [\"team=search\"]",
                         is_text_map },
    [VALUE_OBJECT] = { "object", "an object", is_object },
    [VALUE_LIST] = { "array", "a list", is_list },
};

const struct value_kind *value_kind(enum value_type type)
{
    return &kinds[type];
}

const char *value_show_text(const char *text, char out[VALUE_SHOWN_SIZE])
{
    TEXT_AUTO masked = { 0 };
    TEXT_AUTO shown = { 0 };

    credential_add_masked(&masked, text);
    text_add_printable(&shown, text_string(&masked), masked.length, VALUE_SHOWN_SIZE - 8);
    snprintf(out, VALUE_SHOWN_SIZE, "\"%s%s\"", text_string(&shown),
             masked.length > VALUE_SHOWN_SIZE - 8 ? "..." : "");
    return out;
}

bool value_check_name(const char *argument, const char *value, struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];

    return text_is_name(value)
           || error_set(
               error, ERROR_INVALID,
               "\"%s\" is %s: it can contain only letters, digits, '.', '_' and '-', and must "
               "begin with a letter or digit",
               argument, value_show_text(value, shown));
}

/* A URL with '@' is hidden completely: a password can contain unencoded '?', '#' and '@', so
 * where it ends cannot be known. */
const char *value_show_url(const char *url, char out[VALUE_SHOWN_SIZE])
{
    TEXT_AUTO kept = { 0 };
    size_t length = strcspn(url, "?#");

    if (strchr(url, '@') != NULL)
        return value_show_text("(hidden)", out);
    text_add_bytes(&kept, url, length);
    if (url[length] != '\0')
        text_addf(&kept, "%c(hidden)", url[length]);
    return value_show_text(text_string(&kept), out);
}

const char *value_show(const json_t *value, char out[VALUE_SHOWN_SIZE])
{
    if (json_is_array(value) || json_is_object(value)) {
        snprintf(out, VALUE_SHOWN_SIZE, "%s", json_is_array(value) ? "a list" : "an object");
    } else if (json_is_string(value)) {
        value_show_text(json_string_value(value), out);
    } else if (json_is_integer(value)) {
        snprintf(out, VALUE_SHOWN_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    } else if (json_is_real(value)) {
        snprintf(out, VALUE_SHOWN_SIZE, "%g", json_real_value(value));
    } else {
        snprintf(out, VALUE_SHOWN_SIZE, "%s",
                 json_is_true(value)    ? "true"
                 : json_is_false(value) ? "false"
                                        : "null");
    }
    return out;
}

#define COMPARED_BYTES_MAX 64 /* how many bytes of each name are compared */

unsigned value_name_distance(const char *a, const char *b)
{
    unsigned row[COMPARED_BYTES_MAX + 1];
    size_t a_length = strnlen(a, COMPARED_BYTES_MAX), b_length = strnlen(b, COMPARED_BYTES_MAX);

    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned change = diagonal + (a[i - 1] != b[j - 1]);
            unsigned shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[b_length];
}

bool value_name_is_near(const char *given, const char *known)
{
    size_t length = strlen(known);

    if (strlen(given) >= 4 && (strstr(known, given) != NULL || strstr(given, known) != NULL))
        return true;
    return value_name_distance(given, known) <= (length < 6 ? 1 : length / 3);
}
