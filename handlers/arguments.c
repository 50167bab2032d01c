/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a call's arguments against the tool's params, and fills in defaults. If an argument is
 * refused, the error message is one sentence that names the argument and says what is allowed, or
 * what to give instead. */

#include <inttypes.h>
#include <string.h>

#include "base/json/json.h"
#include "base/net/credential.h"
#include "handlers/options.h"
#include "handlers/values.h"

const struct param *value_param_find(const struct tool *tool, const char *name)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (strcmp(param->name, name) == 0)
            return param;
    return NULL;
}

static const char *nearest_param(const struct tool *tool, const char *given)
{
    const char *best = NULL;

    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (value_name_is_synonym(given, param->name))
            return param->name;
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (value_name_is_near(given, param->name)
            && (best == NULL
                || value_name_distance(given, param->name) < value_name_distance(given, best)))
            best = param->name;
    return best;
}

#define NAMES_BYTES_MAX 300 /* maximum length of the list of names in an error message */

/* Adds the names of the tool's parameters, as many as fit, and how many are omitted. */
static void list_params(const struct tool *tool, struct text *out)
{
    size_t omitted = 0;

    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (omitted > 0 || out->length + strlen(param->name) > NAMES_BYTES_MAX)
            omitted++;
        else
            text_addf(out, "%s%s", out->length == 0 ? "" : ", ", param->name);
    if (omitted > 0)
        text_addf(out, " and %zu more", omitted);
    else if (out->length == 0)
        text_add(out, "none");
}

static CHECKED bool refuse_unknown(const struct tool *tool, const char *given, struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    json_auto_t *name = json_string(given);
    const char *near = nearest_param(tool, given);
    TEXT_AUTO known = { 0 };

    value_show(name, shown);
    if (near != NULL)
        return error_set(error, ERROR_INVALID, "%s takes no argument %s: did you mean \"%s\"?",
                         tool->name, shown, near);
    list_params(tool, &known);
    return error_set(error, ERROR_INVALID, "%s takes no argument %s; it takes %s", tool->name,
                     shown, text_string(&known));
}

static CHECKED bool check_known(const struct tool *tool, const json_t *arguments,
                                struct error *error)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(arguments), name, value)
        if (value_param_find(tool, name) == NULL)
            return refuse_unknown(tool, name, error);
    return true;
}

static bool outside(double value, double low, double high)
{
    return (low != 0 || high != 0) && !(value >= low && value <= high);
}

static CHECKED bool check_number(const struct param *param, const json_t *value,
                                 struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];

    if (outside(json_number_value(value), param->low, param->high))
        return error_set(error, ERROR_INVALID, "\"%s\" is %s: it must be from %.16g to %.16g",
                         param->name, value_show(value, shown), param->low, param->high);
    return true;
}

/* Refuses a text that contains what looks like a credential, because arguments are stored and
 * shown. Arguments that are allowed to contain anything (is_free) are not checked. The error does
 * not repeat the text. */
static CHECKED bool check_harmless(const struct param *param, const char *text, struct error *error)
{
    TEXT_AUTO shown = { 0 };
    size_t length = strlen(text);
    bool is_plain = text_plain_length(text, length) == length;

    if (param->is_free)
        return true;
    if (!is_plain)
        text_add_printable(&shown, text, length, SIZE_MAX / 2);
    if (!credential_is_in(is_plain ? text : text_string(&shown)))
        return true;
    return error_set(
        error, ERROR_INVALID,
        "\"%s\" contains what looks like a credential (not repeated here): consider it "
        "leaked; give a deployment only the name of a secret, which the server reads from "
        "OPSBRAIN_SECRET_<NAME> or its secrets folder",
        param->name);
}

static CHECKED bool check_text(const struct param *param, const json_t *value, struct error *error)
{
    size_t length = json_string_length(value);

    if (outside((double)length, param->low, param->high))
        return error_set(error, ERROR_INVALID,
                         "\"%s\" is %zu byte%s long: it must be from %.0f to %.0f", param->name,
                         length, length == 1 ? "" : "s", param->low, param->high);
    return check_harmless(param, json_string_value(value), error);
}

static CHECKED bool check_choice(const struct param *param, const json_t *value,
                                 struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    TEXT_AUTO allowed = { 0 };

    for (size_t i = 0; param->choices[i] != NULL; i++) {
        if (strcmp(param->choices[i], json_string_value(value)) == 0)
            return true;
        text_addf(&allowed, "%s\"%s\"", i == 0 ? "" : ", ", param->choices[i]);
    }
    return error_set(error, ERROR_INVALID, "\"%s\" is %s: it must be one of %s", param->name,
                     value_show(value, shown), text_string(&allowed));
}

static CHECKED bool check_count(const struct param *param, size_t count, struct error *error)
{
    if (outside((double)count, param->low, param->high))
        return error_set(error, ERROR_INVALID,
                         "\"%s\" has %zu entries: it must have from %.0f to %.0f", param->name,
                         count, param->low, param->high);
    return true;
}

static CHECKED bool check_numbers(const struct param *param, const json_t *value,
                                  struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item)
        if (outside(json_number_value(item), param->item_low, param->item_high))
            return error_set(error, ERROR_INVALID,
                             "\"%s\"[%zu] is %s: each must be from %.16g to %.16g", param->name, i,
                             value_show(item, shown), param->item_low, param->item_high);
    return check_count(param, json_array_size(value), error);
}

static CHECKED bool check_texts(const struct param *param, const json_t *value, struct error *error)
{
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item) {
        if (outside((double)json_string_length(item), param->item_low, param->item_high))
            return error_set(error, ERROR_INVALID,
                             "\"%s\"[%zu] is %zu byte%s long: it must be from %.0f to %.0f",
                             param->name, i, json_string_length(item),
                             json_string_length(item) == 1 ? "" : "s", param->item_low,
                             param->item_high);
        if (!check_harmless(param, json_string_value(item), error))
            return false;
    }
    return check_count(param, json_array_size(value), error);
}

static CHECKED bool check_text_map(const struct param *param, const json_t *value,
                                   struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    const char *key;
    json_t *item;

    json_object_foreach(json_iterable(value), key, item) {
        if (!text_is_name(key))
            return error_set(error, ERROR_INVALID,
                             "a name in \"%s\" is %s: names have 1 to 63 letters, digits, '.', "
                             "'_' or '-', and begin with a letter or digit",
                             param->name, value_show_text(key, shown));
        if (outside((double)json_string_length(item), param->item_low, param->item_high))
            return error_set(
                error, ERROR_INVALID, "\"%s\".%s is %zu byte%s long: it must be from %.0f to %.0f",
                param->name, key, json_string_length(item),
                json_string_length(item) == 1 ? "" : "s", param->item_low, param->item_high);
        if (!check_harmless(param, key, error)
            || !check_harmless(param, json_string_value(item), error))
            return false;
    }
    return check_count(param, json_object_size(value), error);
}

static CHECKED bool check_limits(const struct param *param, const json_t *value,
                                 struct error *error)
{
    switch (param->type) {
    case VALUE_TEXT:
        return check_text(param, value, error);
    case VALUE_INTEGER:
    case VALUE_NUMBER:
        return check_number(param, value, error);
    case VALUE_CHOICE:
        return check_choice(param, value, error);
    case VALUE_INTEGERS:
    case VALUE_NUMBERS:
        return check_numbers(param, value, error);
    case VALUE_TEXTS:
        return check_texts(param, value, error);
    case VALUE_TEXT_MAP:
        return check_text_map(param, value, error);
    case VALUE_BOOLEAN:
    case VALUE_OBJECT:
    case VALUE_LIST:
        break;
    }
    return true;
}

/* Refuses a list with an entry of the wrong type; the error names the first such entry. */
static CHECKED bool check_entries(const struct param *param, const json_t *value,
                                  struct error *error)
{
    const struct value_kind *kind = value_kind(param->type);
    char shown[VALUE_SHOWN_SIZE];
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item) {
        json_auto_t *alone = json_pack("[O]", item);

        if (!kind->accepts(alone))
            return error_set(error, ERROR_INVALID, "\"%s\"[%zu] is %s: \"%s\" must be %s",
                             param->name, i, value_show(item, shown), param->name, kind->phrase);
    }
    return true;
}

static CHECKED bool check_value(const struct param *param, const json_t *value, struct error *error)
{
    const struct value_kind *kind = value_kind(param->type);
    char shown[VALUE_SHOWN_SIZE];
    TEXT_AUTO range = { 0 };

    if (json_is_array(value) && strcmp(kind->schema_type, "array") == 0
        && !check_entries(param, value, error))
        return false;
    value_param_range(param, &range);
    if (!kind->accepts(value))
        return error_set(error, ERROR_INVALID, "\"%s\" is %s: it must be %s%s", param->name,
                         value_show(value, shown), kind->phrase, text_string(&range));
    return check_limits(param, value, error);
}

void value_param_range(const struct param *param, struct text *out)
{
    bool is_list = param->type == VALUE_INTEGERS || param->type == VALUE_NUMBERS;
    double low = is_list ? param->item_low : param->low;
    double high = is_list ? param->item_high : param->high;

    if ((low != 0 || high != 0)
        && (is_list || param->type == VALUE_INTEGER || param->type == VALUE_NUMBER))
        text_addf(out, "%s from %.16g to %.16g", is_list ? ", each" : "", low, high);
}

static json_t *whole_number(const json_t *value)
{
    return json_integer(json_is_integer(value) ? json_integer_value(value)
                                               : (json_int_t)json_real_value(value));
}

/* Turns 4.0 into 4 where an integer is expected, so that tools see integers in a single form. New
 * reference. */
static json_t *normal_form(const struct param *param, json_t *value)
{
    size_t i;
    json_t *item, *list;

    if (param->type == VALUE_INTEGER)
        return whole_number(value);
    if (param->type != VALUE_INTEGERS)
        return json_incref(value);
    list = json_array();
    json_array_foreach(value, i, item)
        json_array_append_new(list, whole_number(item));
    return list;
}

static CHECKED bool check_param(const struct tool *tool, const struct param *param,
                                const json_t *value, struct error *error)
{
    if (value != NULL && !json_is_null(value))
        return check_value(param, value, error);
    if (param->required)
        return error_set(error, ERROR_INVALID, "%s needs \"%s\", %s: %s", tool->name, param->name,
                         value_kind(param->type)->phrase, param->help);
    return true;
}

/* Returns true if there is nothing to fill in, to convert or to drop, which is the usual case.
 * Always returns false for a list of integers, without examining its entries. */
static bool is_final(const struct param *param, const json_t *value)
{
    if (value == NULL)
        return param->initial == NULL;
    return !json_is_null(value) && param->type != VALUE_INTEGERS
           && (param->type != VALUE_INTEGER || json_is_integer(value));
}

static void complete(const struct param *param, json_t *value, json_t *completed)
{
    if (value != NULL && !json_is_null(value))
        json_object_set_new(completed, param->name, normal_form(param, value));
    else if (param->initial != NULL)
        json_object_set_new(completed, param->name,
                            json_loads(param->initial, JSON_DECODE_ANY, NULL));
}

/* Returns true if the value is the default or, where there is no default, is blank (json_is_blank).
 * 30 and 30.0 are equal. */
static bool is_default(const struct param *param, const json_t *value)
{
    json_auto_t *initial = NULL;

    if (param == NULL || param->initial == NULL)
        return json_is_blank(value);
    initial = json_loads(param->initial, JSON_DECODE_ANY, NULL);
    if (json_is_number(initial) && json_is_number(value))
        return !(json_number_value(initial) < json_number_value(value))
               && !(json_number_value(initial) > json_number_value(value));
    return json_equal(initial, value);
}

json_t *tool_omit_defaults(const struct tool *tool, const json_t *object)
{
    json_t *out = json_object(), *value;
    const char *name;

    json_object_foreach(json_iterable(object), name, value)
        if (!is_default(value_param_find(tool, name), value))
            json_object_set(out, name, value);
    return out;
}

bool tool_check(const struct tool *tool, const json_t *written, json_t **out, struct error *error)
{
    json_auto_t *arguments = NULL;
    bool final = written != NULL;

    if (written != NULL && !json_is_object(written))
        return error_set(error, ERROR_INVALID, "the arguments of %s must be a JSON object",
                         tool->name);
    if (tool->input_schema != NULL) {
        *out = written == NULL ? json_object() : json_incref(json_iterable(written));
        return true;
    }
    if (!options_unfold(tool, written, &arguments, error) || !check_known(tool, arguments, error))
        return false;
    for (const struct param *param = tool->params; param->name != NULL; param++) {
        const json_t *value = json_object_get(arguments, param->name);

        if (!check_param(tool, param, value, error))
            return false;
        final = final && is_final(param, value);
    }
    *out = final ? json_incref(arguments) : json_object();
    for (const struct param *param = tool->params; param->name != NULL && !final; param++)
        complete(param, json_object_get(arguments, param->name), *out);
    return true;
}

const char *call_text(const struct call *call, const char *name)
{
    return json_get_text(call->arguments, name, NULL);
}

int64_t call_integer(const struct call *call, const char *name, int64_t fallback)
{
    return json_get_integer(call->arguments, name, fallback);
}

double call_number(const struct call *call, const char *name, double fallback)
{
    return json_get_number(call->arguments, name, fallback);
}

bool call_boolean(const struct call *call, const char *name, bool fallback)
{
    return json_get_boolean(call->arguments, name, fallback);
}
