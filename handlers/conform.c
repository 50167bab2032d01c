/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a structured answer conforms to its tool's fields. This is stricter than the
 * published schema: the members' types are checked, too, and members that no field describes are
 * refused. */

#include <string.h>

#include "handlers/values.h"

static CHECKED bool check_fields(const struct tool *tool, const struct field *fields,
                                 const json_t *object, struct error *error);

static CHECKED bool check_nested(const struct tool *tool, const struct field *field,
                                 const json_t *value, struct error *error)
{
    size_t i;
    json_t *item;

    if (field->fields == NULL)
        return true;
    if (field->type == VALUE_OBJECT)
        return check_fields(tool, field->fields, value, error);
    json_array_foreach(value, i, item)
        if (!check_fields(tool, field->fields, item, error))
            return false;
    return true;
}

static CHECKED bool check_field(const struct tool *tool, const struct field *field,
                                const json_t *value, struct error *error)
{
    if (value == NULL || json_is_null(value)) {
        if (field->optional || field->sparse || field->included != INCLUDED_ALWAYS)
            return true;
        return error_set(error, ERROR_INTERNAL, "%s: \"%s\" is missing from the answer", tool->name,
                         field->name);
    }
    if (!value_kind(field->type)->accepts(value))
        return error_set(error, ERROR_INTERNAL, "%s: \"%s\" in the answer is not %s", tool->name,
                         field->name, value_kind(field->type)->phrase);
    return check_nested(tool, field, value, error);
}

static bool has_field(const struct field *fields, const char *name)
{
    for (; fields->name != NULL; fields++)
        if (strcmp(fields->name, name) == 0)
            return true;
    return false;
}

static CHECKED bool check_fields(const struct tool *tool, const struct field *fields,
                                 const json_t *object, struct error *error)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return error_set(error, ERROR_INTERNAL,
                         "%s: the answer, or an item of a list in it, is not an object",
                         tool->name);
    for (const struct field *field = fields; field->name != NULL; field++)
        if (!check_field(tool, field, json_object_get(object, field->name), error))
            return false;
    json_object_foreach(json_iterable(object), name, value)
        if (!has_field(fields, name))
            return error_set(error, ERROR_INTERNAL,
                             "%s: the answer contains \"%s\", which no field describes", tool->name,
                             name);
    return true;
}

bool tool_conforms(const struct tool *tool, const json_t *structured, struct error *error)
{
    return check_fields(tool, tool->fields, structured, error);
}
