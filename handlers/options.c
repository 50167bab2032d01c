/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/options.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/json/json.h"
#include "handlers/values.h"

#define OPTIONS_MAX 64

bool options_has(const struct tool *tool)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (param->rare)
            return true;
    return false;
}

bool option_is_absent(const struct param *param, const json_t *value)
{
    if (json_is_string(value) && json_string_length(value) == 0)
        return param->type != VALUE_TEXT || param->low > 0;
    return value == NULL || json_is_null(value)
           || (json_is_array(value) && json_array_size(value) == 0);
}

/* ---- Reading values from text ---- */

static json_t *read_word(const char *word, size_t length)
{
    struct error ignored;
    json_t *value;

    if (length == 4 && strncasecmp(word, "true", 4) == 0)
        return json_true();
    if (length == 5 && strncasecmp(word, "false", 5) == 0)
        return json_false();
    return json_parse(word, length, &value, &ignored) ? value : json_stringn(word, length);
}

static size_t trimmed_length(const char *word, size_t length)
{
    while (length > 0 && word[length - 1] == ' ')
        length--;
    return length;
}

/* Reads a list such as "1,4,16". */
static json_t *read_list(const char *text, bool of_texts)
{
    json_t *list = json_array();

    while (*text != '\0') {
        size_t gap = strspn(text, " "), length = strcspn(text + gap, ",");
        size_t trimmed = trimmed_length(text + gap, length);

        json_array_append_new(list, of_texts ? json_stringn(text + gap, trimmed)
                                             : read_word(text + gap, trimmed));
        text += gap + length;
        text += *text == ',';
    }
    return list;
}

static json_t *read_json(const char *text)
{
    struct error ignored;
    json_t *value;

    return json_parse(text, strlen(text), &value, &ignored) ? value : json_string(text);
}

/* Converts the text to the argument's type. If the text does not fit the type, tool_check refuses
 * the result later. `param` NULL: the tool has no such argument. */
static json_t *read_value(const struct param *param, const char *text)
{
    bool of_texts;

    if (param == NULL || param->type == VALUE_TEXT || param->type == VALUE_CHOICE)
        return json_string(text);
    if (*text == '[' || *text == '{')
        return read_json(text);
    of_texts = param->type == VALUE_TEXTS || param->type == VALUE_TEXT_MAP;
    if (of_texts || param->type == VALUE_INTEGERS || param->type == VALUE_NUMBERS)
        return *text == '\0' && param->type == VALUE_TEXT_MAP ? json_object()
                                                              : read_list(text, of_texts);
    return read_word(text, strlen(text));
}

/* ---- "name=value" ---- */

/* Splits an entry into its name and its value, without the spaces around the '='. `param` NULL: the
 * entry is an option. */
static CHECKED bool split(const struct param *param, const char *owner, size_t index,
                          const json_t *item, struct text *name, const char **value,
                          struct error *error)
{
    const char *text = json_string_value(item);
    const char *equals = text == NULL ? NULL : strchr(text, '=');
    char shown[VALUE_SHOWN_SIZE];

    if (equals == NULL || equals == text)
        return error_set(
            error, ERROR_INVALID,
            "\"%s\"[%zu] is %s: each entry must have the form name=value, such as \"%s\"", owner,
            index, value_show(item, shown), param == NULL ? "window_s=10" : "team=search");
    text_clear(name);
    text_add_bytes(name, text, trimmed_length(text, (size_t)(equals - text)));
    *value = equals + 1 + strspn(equals + 1, " ");
    return true;
}

static CHECKED bool set_option_take(const struct tool *tool, const char *name, json_t *value_take,
                                    json_t *out, struct error *error)
{
    json_auto_t *value = value_take;
    const struct param *param = value_param_find(tool, name);
    json_t *given = json_object_get(out, name);

    if (given == NULL || (param != NULL && option_is_absent(param, given))
        || json_equal(given, value)) {
        json_object_set(out, name, value);
        return true;
    }
    return error_set(error, ERROR_INVALID,
                     "\"%.60s\" is given twice with different values: give it once", name);
}

static CHECKED bool unfold_list(const struct tool *tool, const json_t *options, json_t *out,
                                struct error *error)
{
    TEXT_AUTO name = { 0 };
    const char *value;
    size_t i;
    json_t *item;

    if (json_array_size(options) > OPTIONS_MAX)
        return error_set(error, ERROR_INVALID,
                         "\"options\" has %zu entries: at most %d are allowed",
                         json_array_size(options), OPTIONS_MAX);
    json_array_foreach(options, i, item) {
        if (!split(NULL, OPTIONS_PARAM, i, item, &name, &value, error)
            || !set_option_take(tool, text_string(&name),
                                read_value(value_param_find(tool, text_string(&name)), value), out,
                                error))
            return false;
    }
    return true;
}

static CHECKED bool unfold_object(const struct tool *tool, const json_t *options, json_t *out,
                                  struct error *error)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(options), name, value) {
        if (!set_option_take(tool, name, json_incref(value), out, error))
            return false;
    }
    return true;
}

/* Moves the arguments in `options` to the other arguments. `options` is a list or an object. */
static CHECKED bool unfold_options(const struct tool *tool, json_t *out, struct error *error)
{
    static const struct param row = { OPTIONS_PARAM, VALUE_TEXTS };
    json_auto_t *options = json_incref(json_object_get(out, OPTIONS_PARAM));
    char shown[VALUE_SHOWN_SIZE];

    if (options == NULL || !options_has(tool))
        return true;
    json_object_del(out, OPTIONS_PARAM);
    if (option_is_absent(&row, options))
        return true;
    if (json_is_array(options))
        return unfold_list(tool, options, out, error);
    if (json_is_object(options))
        return unfold_object(tool, options, out, error);
    return error_set(error, ERROR_INVALID,
                     "\"options\" is %s: it must be a list of name=value entries, such as "
                     "[\"window_s=10\"]",
                     value_show(options, shown));
}

/* Turns ["team=search"] into {"team": "search"}. */
static CHECKED bool unfold_map(const struct param *param, json_t *out, struct error *error)
{
    const json_t *list = json_object_get(out, param->name);
    json_auto_t *map = json_object();
    TEXT_AUTO name = { 0 };
    const char *value;
    size_t i;
    json_t *item;

    json_array_foreach(list, i, item) {
        if (!split(param, param->name, i, item, &name, &value, error))
            return false;
        json_object_set_new(map, text_string(&name), json_string(value));
    }
    json_object_set(out, param->name, map);
    return true;
}

/* ---- All arguments ---- */

/* Returns true if there is nothing to unfold or to drop. */
static bool is_unfolded(const struct tool *tool, const json_t *arguments)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(arguments), name, value) {
        const struct param *param = value_param_find(tool, name);

        if (param == NULL ? strcmp(name, OPTIONS_PARAM) == 0
                          : option_is_absent(param, value)
                                || (param->type == VALUE_TEXT_MAP && json_is_array(value)))
            return false;
    }
    return true;
}

static CHECKED bool unfold(const struct tool *tool, json_t *out, struct error *error)
{
    if (!unfold_options(tool, out, error))
        return false;
    for (const struct param *param = tool->params; param->name != NULL; param++) {
        const json_t *value = json_object_get(out, param->name);

        if (option_is_absent(param, value))
            json_object_del(out, param->name);
        else if (param->type == VALUE_TEXT_MAP && json_is_array(value)
                 && !unfold_map(param, out, error))
            return false;
    }
    return true;
}

bool options_unfold(const struct tool *tool, const json_t *arguments, json_t **out,
                    struct error *error)
{
    json_auto_t *copy = NULL;

    if (is_unfolded(tool, arguments)) {
        *out = json_incref(json_iterable(arguments));
        return true;
    }
    copy = json_copy(json_iterable(arguments));
    if (!unfold(tool, copy, error))
        return false;
    *out = json_incref(copy);
    return true;
}
