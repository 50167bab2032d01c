/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/tool_flags.h"

#include <string.h>
#include <strings.h>

#include "base/json/json.h"
#include "handlers/options.h"
#include "handlers/values.h"

/* ---- Types of parameters ---- */

static const json_t *property_of(const struct tool_flags *flags, const char *name)
{
    return json_object_get(json_object_get(flags->schema, "properties"), name);
}

/* Returns a parameter's JSON Schema type. It is taken from the server's schema or, if there is no
 * schema or the parameter is not in it (a rare option), from this program. "": not known. */
static const char *type_of(const struct tool_flags *flags, const char *name)
{
    const json_t *property = property_of(flags, name);
    const struct tool *tool = tool_find(flags->tool);
    const struct param *param = tool == NULL ? NULL : value_param_find(tool, name);

    if (property != NULL)
        return json_get_text(property, "type", "");
    return param == NULL ? "" : value_kind(param->type)->schema_type;
}

static bool is_type(const struct tool_flags *flags, const char *name, const char *type)
{
    return strcmp(type_of(flags, name), type) == 0;
}

/* ---- Values ---- */

/* Reads a number if possible; anything else stays a string, which the server then refuses. */
static json_t *read_number(const char *value, size_t length)
{
    struct error ignored;
    json_t *number = NULL;

    if (!json_parse(value, length, &number, &ignored))
        return json_stringn(value, length);
    if (json_is_number(number))
        return number;
    json_decref(number);
    return json_stringn(value, length);
}

static json_t *read_boolean(const char *value)
{
    if (strcasecmp(value, "true") == 0 || strcasecmp(value, "yes") == 0)
        return json_true();
    if (strcasecmp(value, "false") == 0 || strcasecmp(value, "no") == 0)
        return json_false();
    return json_string(value);
}

/* Reads a list, written as "1,4,16" or as JSON. */
static json_t *read_list(const json_t *property, const char *value)
{
    bool of_texts =
        strcmp(json_get_text(json_object_get(property, "items"), "type", ""), "string") == 0;
    json_t *list = NULL;
    struct error ignored;

    if (value[0] == '[' && json_parse(value, strlen(value), &list, &ignored))
        return list;
    list = json_array();
    while (*value != '\0') {
        size_t length = strcspn(value, ",");

        json_array_append_new(list,
                              of_texts ? json_stringn(value, length) : read_number(value, length));
        value += length + (value[length] == ',');
    }
    return list;
}

static json_t *read_object(const char *value)
{
    struct error ignored;
    json_t *object;

    return json_parse(value, strlen(value), &object, &ignored) ? object : json_string(value);
}

static json_t *read_value(const json_t *property, const char *value)
{
    const char *type = json_get_text(property, "type", "");

    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        return read_number(value, strlen(value));
    if (strcmp(type, "boolean") == 0)
        return read_boolean(value);
    if (strcmp(type, "array") == 0)
        return read_list(property, value);
    return strcmp(type, "object") == 0 ? read_object(value) : json_string(value);
}

/* ---- Arguments ---- */

static void add_option(json_t *arguments, const char *name, const char *value)
{
    TEXT_AUTO option = { 0 };

    text_addf(&option, "%s=%s", name, value);
    if (json_object_get(arguments, OPTIONS_PARAM) == NULL)
        json_object_set_new(arguments, OPTIONS_PARAM, json_array());
    json_array_append_new(json_object_get(arguments, OPTIONS_PARAM),
                          json_string(text_string(&option)));
}

static CHECKED bool set(const struct tool_flags *flags, const char *name, const char *value,
                        json_t *arguments, struct error *error)
{
    const json_t *property = property_of(flags, name);
    json_t *before = json_object_get(arguments, name);
    const char *type = type_of(flags, name);
    bool may_be_list = flags->schema == NULL && (type[0] == '\0' || strcmp(type, "array") == 0);

    if (!text_is_utf8(value, strlen(value)) || !text_is_utf8(name, strlen(name)))
        return error_set(error, ERROR_INVALID, "an argument is not valid UTF-8");
    if (property == NULL && property_of(flags, OPTIONS_PARAM) != NULL) {
        add_option(arguments, name, value);
        return true;
    }
    if (json_is_array(before) && strcmp(type, "array") == 0) {
        json_auto_t *more = read_list(property, value);

        json_array_extend(before, more);
        return true;
    }
    if (before != NULL && !may_be_list)
        return error_set(error, ERROR_INVALID, "%.60s is given twice: give it once", name);
    json_object_set_new(arguments, name, read_value(property, value));
    return true;
}

bool tool_flags_given(const json_t *arguments, const char *name)
{
    const json_t *option;
    size_t i, length = strlen(name);

    json_array_foreach(json_object_get(arguments, OPTIONS_PARAM), i, option) {
        const char *text = json_string_value(option);

        if (text != NULL && strncmp(text, name, length) == 0 && text[length] == '=')
            return true;
    }
    return json_object_get(arguments, name) != NULL;
}

bool tool_flags_default(const struct tool_flags *flags, const char *name, const char *value,
                        json_t *arguments, struct error *error)
{
    return tool_flags_given(arguments, name) || set(flags, name, value, arguments, error);
}

/* ---- Words ---- */

/* The words, and how far they have been read. */
struct scan {
    const struct tool_flags *flags;
    int argc, at;
    char *const *words;
    bool flags_ended; /* "--" was read: no word after it is a flag */
};

static bool is_flag(const struct scan *scan, const char *word)
{
    return !scan->flags_ended && word[0] == '-' && word[1] == '-' && word[2] != '\0';
}

/* Writes the flag's name, such as input_tokens for "--input-tokens=512"; for an alias, the name of
 * the parameter. Returns the value after "="; NULL: there is none. */
static const char *split_flag(const struct tool_flags *flags, const char *word, struct text *name)
{
    const char *value = strchr(word, '=');

    text_add_bytes(name, word + 2, value != NULL ? (size_t)(value - word - 2) : strlen(word + 2));
    for (char *c = name->data; c != NULL && *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
    for (const struct flag_alias *alias = flags->aliases; alias != NULL && alias->name != NULL;
         alias++)
        if (strcmp(alias->name, text_string(name)) == 0) {
            text_clear(name);
            text_add(name, alias->param);
        }
    return value != NULL ? value + 1 : NULL;
}

static const struct own_flag *find_own(const struct tool_flags *flags, const char *name)
{
    for (const struct own_flag *own = flags->own; own != NULL && own->name != NULL; own++)
        if (strcmp(own->name, name) == 0)
            return own;
    return NULL;
}

/* For a flag without "=", reads the next word as its value. NULL: the flag has no value. */
static const char *next_value(struct scan *scan, const char *name)
{
    const struct own_flag *own = find_own(scan->flags, name);
    bool alone = own != NULL ? own->set != NULL : is_type(scan->flags, name, "boolean");

    if (alone || scan->at + 1 >= scan->argc || is_flag(scan, scan->words[scan->at + 1]))
        return NULL;
    return scan->words[++scan->at];
}

static CHECKED bool read_own(const struct own_flag *own, const char *value, struct error *error)
{
    if (own->value != NULL && value == NULL)
        return error_set(error, ERROR_INVALID, "--%s needs a value", own->name);
    if (own->set != NULL && value != NULL)
        return error_set(error, ERROR_INVALID, "--%s takes no value", own->name);
    if (own->set != NULL)
        *own->set = true;
    else
        *own->value = value;
    return true;
}

static CHECKED bool read_flag(struct scan *scan, json_t *arguments, struct error *error)
{
    TEXT_AUTO name = { 0 };
    const char *value = split_flag(scan->flags, scan->words[scan->at], &name);
    const struct own_flag *own = find_own(scan->flags, text_string(&name));

    value = value != NULL ? value : next_value(scan, text_string(&name));
    if (own != NULL)
        return read_own(own, value, error);
    if (value == NULL && type_of(scan->flags, text_string(&name))[0] != '\0'
        && !is_type(scan->flags, text_string(&name), "boolean"))
        return error_set(error, ERROR_INVALID, "--%.60s needs a value", text_string(&name));
    return set(scan->flags, text_string(&name), value == NULL ? "true" : value, arguments, error);
}

/* Reads name=value, for a command without a row in tool_words. */
static CHECKED bool read_pair(const struct tool_flags *flags, const char *word, json_t *arguments,
                              struct error *error)
{
    const char *equals = strchr(word, '=');
    TEXT_AUTO name = { 0 };

    if (equals == NULL || equals == word)
        return error_set(error, ERROR_INVALID,
                         "\"%.60s\" is neither name=value nor --name VALUE: opsbrain help %s lists "
                         "the arguments",
                         word, flags->tool);
    text_add_bytes(&name, word, (size_t)(equals - word));
    return set(flags, text_string(&name), equals + 1, arguments, error);
}

static CHECKED bool read_operands(const struct tool_flags *flags, const char *const *operands,
                                  size_t count, json_t *arguments, struct error *error)
{
    char param[TOOL_WORD_PARAM_SIZE];

    for (size_t i = 0; i < count; i++) {
        bool is_read;

        if (flags->word == NULL)
            is_read = read_pair(flags, operands[i], arguments, error);
        else if (tool_word_param(flags->word, i, count, operands[i], param))
            is_read = set(flags, param, operands[i], arguments, error);
        else
            is_read =
                error_set(error, ERROR_INVALID,
                          "\"%.60s\" is one word too many: opsbrain help %s shows what it takes",
                          operands[i], flags->word->name);
        if (!is_read)
            return false;
    }
    return true;
}

/* Collects the operands, and reads the flags: the command's own into their variables, the others
 * into `arguments`. If `arguments` is NULL, the others are only checked. */
static CHECKED bool scan_words(struct scan *scan, const char **operands, size_t *count,
                               json_t *arguments, struct error *error)
{
    json_auto_t *scratch = json_object();

    for (*count = 0; scan->at < scan->argc; scan->at++) {
        const char *word = scan->words[scan->at];

        if (is_flag(scan, word)) {
            if (!read_flag(scan, arguments != NULL ? arguments : scratch, error))
                return false;
        } else if (!scan->flags_ended && strcmp(word, "--") == 0)
            scan->flags_ended = true;
        else if (*count == FLAG_OPERANDS_MAX)
            return error_set(error, ERROR_INVALID, "more than %d words: give fewer at a time",
                             FLAG_OPERANDS_MAX);
        else
            operands[(*count)++] = word;
    }
    return true;
}

bool tool_flags_read(const struct tool_flags *flags, int argc, char *const *given,
                     json_t **arguments, struct error *error)
{
    struct scan scan = { .flags = flags, .argc = argc, .words = given };
    json_auto_t *object = json_object();
    const char *operands[FLAG_OPERANDS_MAX];
    size_t count;

    if (!scan_words(&scan, operands, &count, object, error))
        return false;
    if ((flags->word == NULL || flags->word->upload == NULL)
        && !read_operands(flags, operands, count, object, error))
        return false;
    *arguments = json_incref(object);
    return true;
}

size_t tool_flags_operands(const struct tool_flags *flags, int argc, char *const *given,
                           const char **out, size_t most)
{
    struct scan scan = { .flags = flags, .argc = argc, .words = given };
    const char *operands[FLAG_OPERANDS_MAX];
    struct error ignored;
    size_t count, i;

    if (!scan_words(&scan, operands, &count, NULL, &ignored))
        return 0;
    for (i = 0; i < count && i < most; i++)
        out[i] = operands[i];
    return i;
}
