/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"

#include <math.h>
#include <string.h>

#include "base/json/json_build.h"

#define SHOWN_BYTES 200

/* Refuses more than JSON_DEPTH_LIMIT levels, because jansson itself allows 2,048. Brackets inside
 * strings are not counted. */
static CHECKED bool check_depth(const char *bytes, size_t length, struct error *error)
{
    bool in_string = false;
    size_t depth = 0;

    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];

        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '[' || c == '{'))
            depth++;
        else if (!in_string && (c == ']' || c == '}') && depth > 0)
            depth--;
        if (depth > JSON_DEPTH_LIMIT)
            return error_set(error, ERROR_INVALID,
                             "the JSON is nested deeper than %d levels at byte %zu",
                             JSON_DEPTH_LIMIT, i);
    }
    return true;
}

/* jansson does not notice a NUL directly after a number, true, false or null. */
static CHECKED bool check_no_nul(const char *bytes, size_t length, struct error *error)
{
    const char *found = length > 0 ? memchr(bytes, '\0', length) : NULL;

    if (found != NULL)
        return error_set(error, ERROR_INVALID, "the JSON has a control character (NUL) at byte %zu",
                         (size_t)(found - bytes));
    return true;
}

bool json_parse(const char *bytes, size_t length, json_t **out, struct error *error)
{
    return json_build(bytes, length, out) || json_parse_by_jansson(bytes, length, out, error);
}

bool json_parse_by_jansson(const char *bytes, size_t length, json_t **out, struct error *error)
{
    json_error_t problem;
    TEXT_AUTO shown = { 0 };
    json_t *value;

    if (!check_no_nul(bytes, length, error) || !check_depth(bytes, length, error))
        return false;
    value = json_loadb(bytes, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (value == NULL && json_error_code(&problem) == json_error_null_character)
        return error_set(error, ERROR_INVALID,
                         "the JSON has \\u0000 in a string at byte %d, which is not allowed: "
                         "remove it",
                         problem.position);
    if (value == NULL && json_error_code(&problem) == json_error_numeric_overflow
        && strstr(problem.text, "integer") != NULL)
        return error_set(error, ERROR_INVALID,
                         "the JSON has an integer of more than 64 bits at line %d, column %d: "
                         "write it as a string, or with a decimal point",
                         problem.line, problem.column);
    if (value == NULL) {
        text_add_printable(&shown, problem.text, strlen(problem.text), SHOWN_BYTES);
        return error_set(error, ERROR_INVALID, "the JSON is wrong at line %d, column %d: %s",
                         problem.line, problem.column, text_string(&shown));
    }
    *out = value;
    return true;
}

const char *json_get_text(const json_t *object, const char *name, const char *fallback)
{
    const json_t *value = json_object_get(object, name);

    return json_is_string(value) ? json_string_value(value) : fallback;
}

int64_t json_get_integer(const json_t *object, const char *name, int64_t fallback)
{
    const json_t *value = json_object_get(object, name);

    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double json_get_number(const json_t *object, const char *name, double fallback)
{
    const json_t *value = json_object_get(object, name);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool json_get_boolean(const json_t *object, const char *name, bool fallback)
{
    const json_t *value = json_object_get(object, name);

    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

bool json_is_blank(const json_t *value)
{
    if (json_is_array(value) || json_is_object(value))
        return json_array_size(value) == 0 && json_object_size(value) == 0;
    if (json_is_string(value))
        return json_string_length(value) == 0;
    if (json_is_number(value))
        return !(json_number_value(value) < 0) && !(json_number_value(value) > 0);
    return !json_is_true(value);
}

void json_drop_blank(json_t *object)
{
    const char *name;
    json_t *value;
    void *next;

    json_object_foreach_safe(object, next, name, value) {
        if (json_is_blank(value))
            json_object_del(object, name);
    }
}

json_t *json_number_or_null(double value)
{
    return isfinite(value) ? json_real(value == 0 ? 0.0 : value) : json_null();
}
