/* The published schemas: written from a tool's rows, so that they cannot differ from the checks. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "handlers/values.h"

/* 600 and not 600.0: JSON Schema knows no difference, and it is shorter. */
static json_t *number(double value)
{
    return trunc(value) == value ? json_integer((json_int_t)value) : json_real(value);
}

/* `low` and `high` both 0: no limits. */
static void add_limits(json_t *schema, double low, double high)
{
    if (low == 0 && high == 0)
        return;
    json_object_set_new(schema, "minimum", number(low));
    json_object_set_new(schema, "maximum", number(high));
}

static void add_counts(json_t *schema, const char *least, const char *most,
                       const struct param *param)
{
    if (param->low > 0)
        json_object_set_new(schema, least, number(param->low));
    if (param->high > 0)
        json_object_set_new(schema, most, number(param->high));
}

/* Of texts none: theirs are bytes, JSON Schema's are characters, and a refusal tells them. */
static void add_kind_limits(json_t *schema, const struct param *param)
{
    switch (param->type) {
    case VALUE_INTEGER:
    case VALUE_NUMBER:
        add_limits(schema, param->low, param->high);
        break;
    case VALUE_INTEGERS:
    case VALUE_NUMBERS:
    case VALUE_TEXTS:
        add_counts(schema, "minItems", "maxItems", param);
        break;
    case VALUE_TEXT_MAP:
        add_counts(schema, "minProperties", "maxProperties", param);
        break;
    case VALUE_TEXT:
    case VALUE_BOOLEAN:
    case VALUE_CHOICE:
    case VALUE_OBJECT:
    case VALUE_LIST:
        break;
    }
}

static json_t *choices_schema(const char *const *choices)
{
    json_t *list = json_array();

    for (size_t i = 0; choices[i] != NULL; i++)
        json_array_append_new(list, json_string(choices[i]));
    return list;
}

static json_t *item_schema(const struct param *param)
{
    bool whole = param->type == VALUE_INTEGERS;
    json_t *item = json_object();

    if (whole || param->type == VALUE_NUMBERS) {
        json_object_set_new(item, "type", json_string(whole ? "integer" : "number"));
        add_limits(item, param->item_low, param->item_high);
    } else {
        json_object_set_new(item, "type", json_string("string"));
    }
    return item;
}

static bool has_param(const struct tool *tool, const char *name)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (strcmp(param->name, name) == 0)
            return true;
    return false;
}

/* NULL: none is published. */
static json_t *param_help(const struct tool *tool, const struct param *param)
{
    const struct tool *teller =
        tool->params_told_in == NULL ? NULL : tool_find(tool->params_told_in);
    const char *rest = strstr(param->help, ". ");

    if (teller == NULL || !has_param(teller, param->name))
        return json_string(param->help);
    if (param->initial != NULL)
        return NULL;
    return rest == NULL ? json_string(param->help)
                        : json_stringn(param->help, (size_t)(rest + 1 - param->help));
}

static json_t *param_schema(const struct tool *tool, const struct param *param)
{
    json_t *schema = json_object(), *help = param_help(tool, param);

    json_object_set_new(schema, "type", json_string(value_kind(param->type)->schema_type));
    if (help != NULL)
        json_object_set_new(schema, "description", help);
    if (param->type == VALUE_CHOICE)
        json_object_set_new(schema, "enum", choices_schema(param->choices));
    if (param->type == VALUE_INTEGERS || param->type == VALUE_NUMBERS || param->type == VALUE_TEXTS)
        json_object_set_new(schema, "items", item_schema(param));
    if (param->type == VALUE_TEXT_MAP)
        json_object_set_new(schema, "additionalProperties", item_schema(param));
    add_kind_limits(schema, param);
    if (param->header != NULL)
        json_object_set_new(schema, "x-mcp-header", json_string(param->header));
    if (param->initial != NULL)
        json_object_set_new(schema, "default", json_loads(param->initial, JSON_DECODE_ANY, NULL));
    return schema;
}

static json_t *params_schema(const struct tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *schema = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                               "additionalProperties", false);

    for (const struct param *param = tool->params; param->name != NULL; param++) {
        json_object_set_new(properties, param->name, param_schema(tool, param));
        if (param->required)
            json_array_append_new(required, json_string(param->name));
    }
    if (json_array_size(required) > 0)
        json_object_set(schema, "required", required);
    json_decref(required);
    return schema;
}

json_t *tool_input_schema(const struct tool *tool)
{
    return tool->input_schema == NULL ? params_schema(tool)
                                      : json_loads(tool->input_schema, 0, NULL);
}

/* Agents pay for every word of the list: records are told as objects here, and opsbrain://answers
 * explains each member. Members may be added later without breaking a client that kept an old
 * schema: additional ones are not forbidden, though tool_conforms() knows none. */
static json_t *field_schema(const struct field *field)
{
    json_t *schema = json_pack("{s:s}", "type", value_kind(field->type)->schema_type);

    if (field->type == VALUE_INTEGERS)
        json_object_set_new(schema, "items", json_pack("{s:s}", "type", "integer"));
    if (field->type == VALUE_NUMBERS)
        json_object_set_new(schema, "items", json_pack("{s:s}", "type", "number"));
    if (field->type == VALUE_TEXTS)
        json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
    return schema;
}

static json_t *fields_schema(const struct field *fields)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *schema = json_pack("{s:s, s:o}", "type", "object", "properties", properties);

    for (const struct field *field = fields; field->name != NULL; field++) {
        if (field->told == TOLD_IN_DETAIL)
            continue;
        json_object_set_new(properties, field->name, field_schema(field));
        if (!field->optional && !field->sparse)
            json_array_append_new(required, json_string(field->name));
    }
    if (json_array_size(required) > 0)
        json_object_set(schema, "required", required);
    json_decref(required);
    return schema;
}

json_t *tool_output_schema(const struct tool *tool)
{
    return tool->fields == NULL ? NULL : fields_schema(tool->fields);
}
