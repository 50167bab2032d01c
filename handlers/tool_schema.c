/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the published schemas from a tool's params and fields, so that they cannot contradict
 * the checks. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handlers/options.h"
#include "handlers/values.h"

/* Writes 600 rather than 600.0, because it is shorter; JSON Schema treats both alike. */
static json_t *number(double value)
{
    return trunc(value) == value ? json_integer((json_int_t)value) : json_real(value);
}

/* Adds the limits on a value; there are none if `low` and `high` are both 0. A minimum of 0 or 1 is
 * omitted. */
static void add_limits(json_t *schema, double low, double high)
{
    if (low == 0 && high == 0)
        return;
    if (low != 0 && low != 1)
        json_object_set_new(schema, "minimum", number(low));
    json_object_set_new(schema, "maximum", number(high));
}

static json_t *choices_list(const char *const *choices)
{
    json_t *list = json_array();

    for (size_t i = 0; choices[i] != NULL; i++)
        json_array_append_new(list, json_string(choices[i]));
    return list;
}

/* The schema states no limits on items or on the lengths of strings. If a call is refused, the
 * error message states them; opsbrain://arguments states the limits on numbers. */
static json_t *items_schema(enum value_type type)
{
    const char *item_type = type == VALUE_INTEGERS  ? "integer"
                            : type == VALUE_NUMBERS ? "number"
                                                    : "string";

    return json_pack("{s:s}", "type", item_type);
}

static bool is_list(enum value_type type)
{
    return type == VALUE_INTEGERS || type == VALUE_NUMBERS || type == VALUE_TEXTS;
}

/* Returns true if the schema of the tool `params_described_in` describes this argument. */
static bool is_described_elsewhere(const struct tool *tool, const struct param *param)
{
    const struct tool *describing =
        tool->params_described_in == NULL ? NULL : tool_find(tool->params_described_in);

    return describing != NULL && value_param_find(describing, param->name) != NULL
           && !value_param_find(describing, param->name)->rare;
}

/* A map is published as a list of strings such as "team=search", since strict hosts do not allow
 * free-form objects. */
static json_t *param_schema(const struct tool *tool, const struct param *param)
{
    bool is_array = is_list(param->type) || param->type == VALUE_TEXT_MAP;
    json_t *schema =
        json_pack("{s:s}", "type", is_array ? "array" : value_kind(param->type)->schema_type);

    if (!is_described_elsewhere(tool, param))
        json_object_set_new(schema, "description", json_string(param->help));
    if (param->type == VALUE_CHOICE)
        json_object_set_new(schema, "enum", choices_list(param->choices));
    if (is_array)
        json_object_set_new(schema, "items", items_schema(param->type));
    if (param->type == VALUE_INTEGER || param->type == VALUE_NUMBER)
        add_limits(schema, param->low, param->high);
    if (param->header != NULL)
        json_object_set_new(schema, "x-mcp-header", json_string(param->header));
    if (param->initial != NULL)
        json_object_set_new(schema, "default", json_loads(param->initial, JSON_DECODE_ANY, NULL));
    return schema;
}

static json_t *options_schema(const struct tool *tool)
{
    TEXT_AUTO help = { 0 };

    if (tool->params_described_in != NULL) {
        text_addf(&help, "More as name=value: see %s.", tool->params_described_in);
    } else {
        text_add(&help, "More as name=value:");
        for (const struct param *param = tool->params; param->name != NULL; param++)
            if (param->rare)
                text_addf(&help, " %s", param->name);
        text_addf(&help, ". See opsbrain://arguments/%s.", tool->name);
    }
    return json_pack("{s:s, s:s, s:o}", "type", "array", "description", text_string(&help), "items",
                     items_schema(VALUE_TEXTS));
}

static json_t *params_schema(const struct tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *schema = json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
                               "additionalProperties", false);

    for (const struct param *param = tool->params; param->name != NULL; param++) {
        if (param->rare)
            continue;
        json_object_set_new(properties, param->name, param_schema(tool, param));
        if (param->required)
            json_array_append_new(required, json_string(param->name));
    }
    if (options_has(tool))
        json_object_set_new(properties, OPTIONS_PARAM, options_schema(tool));
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

/* Agents pay for every word of tools/list, so the schema names only the members that every answer
 * has; opsbrain://answers explains each member. The schema allows additional members, although
 * tool_conforms() does not: new members can be added later without breaking a client that kept an
 * old schema. */
static json_t *fields_schema(const struct field *fields)
{
    json_t *required = json_array();

    for (const struct field *field = fields; field->name != NULL; field++)
        if (field->included != INCLUDED_IN_DETAIL && !field->optional && !field->sparse)
            json_array_append_new(required, json_string(field->name));
    return json_pack("{s:s, s:o}", "type", "object", "required", required);
}

json_t *tool_output_schema(const struct tool *tool)
{
    return tool->fields == NULL ? NULL : fields_schema(tool->fields);
}
