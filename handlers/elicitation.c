/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/elicitation.h"

#include <math.h>
#include <string.h>

#include "base/json/json.h"

bool elicitation_is_by_url(const json_t *params)
{
    return strcmp(json_get_text(params, "mode", "form"), "url") == 0;
}

static bool fits_type(const json_t *value, const char *type)
{
    if (strcmp(type, "string") == 0)
        return json_is_string(value);
    if (strcmp(type, "boolean") == 0)
        return json_is_boolean(value);
    if (strcmp(type, "integer") == 0)
        return json_is_number(value) && floor(json_number_value(value)) == json_number_value(value);
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    return strcmp(type, "array") != 0 || json_is_array(value);
}

static bool is_among(const json_t *value, const json_t *allowed)
{
    for (size_t i = 0; i < json_array_size(allowed); i++)
        if (json_equal(json_array_get(allowed, i), value))
            return true;
    return false;
}

static CHECKED bool check_member(const char *name, const json_t *schema, const json_t *value,
                                 struct error *error)
{
    const char *type = json_get_text(schema, "type", "");
    const json_t *allowed = json_object_get(schema, "enum");

    if (!fits_type(value, type))
        return error_set(error, ERROR_INVALID,
                         "the form is not filled in correctly: \"%.60s\" must be of type %.20s",
                         name, type);
    if (allowed != NULL && !is_among(value, allowed))
        return error_set(error, ERROR_INVALID,
                         "the form is not filled in correctly: \"%.60s\" is not one of the choices",
                         name);
    return true;
}

/* Checks the fields of an accepted form. Fields that were not requested are ignored. */
static CHECKED bool check_form(const json_t *schema, const json_t *content, struct error *error)
{
    json_t *required = json_object_get(schema, "required");
    json_t *properties = json_object_get(schema, "properties");
    const char *name;
    json_t *property;

    if (!json_is_object(content))
        return error_set(error, ERROR_INVALID,
                         "the form was accepted, but \"content\" is not an object");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *needed = json_string_value(json_array_get(required, i));

        if (needed != NULL && json_object_get(content, needed) == NULL)
            return error_set(error, ERROR_INVALID, "the form is incomplete: \"%.60s\" is missing",
                             needed);
    }
    json_object_foreach(properties, name, property) {
        const json_t *value = json_object_get(content, name);

        if (value != NULL && !check_member(name, property, value, error))
            return false;
    }
    return true;
}

bool elicitation_check(const json_t *params, const json_t *result, struct error *error)
{
    const char *action = json_get_text(result, "action", "");

    if (strcmp(action, "decline") == 0 || strcmp(action, "cancel") == 0)
        return true;
    if (strcmp(action, "accept") != 0)
        return error_set(error, ERROR_INVALID,
                         "the answer to elicitation/create needs an \"action\": accept, decline or "
                         "cancel");
    return elicitation_is_by_url(params)
           || check_form(json_object_get(params, "requestedSchema"),
                         json_object_get(result, "content"), error);
}
