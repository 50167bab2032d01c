/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the prompts, and carries out prompts/get. */

#include <string.h>

#include "base/json/json.h"
#include "handlers/call.h"
#include "handlers/prompt.h"
#include "handlers/values.h"

/* ---- The list ---- */

static json_t *describe(const struct prompt *prompt)
{
    json_t *arguments = json_array();

    for (const struct prompt_argument *argument = prompt->arguments; argument->name != NULL;
         argument++)
        json_array_append_new(arguments,
                              json_pack("{s:s, s:s, s:b}", "name", argument->name, "description",
                                        argument->help, "required", argument->required));
    return json_pack("{s:s, s:s, s:s, s:o}", "name", prompt->name, "title", prompt->title,
                     "description", prompt->help, "arguments", arguments);
}

json_t *prompts_list(const struct prompt *const *table)
{
    json_t *list = json_array();

    for (size_t i = 0; table[i] != NULL; i++)
        json_array_append_new(list, describe(table[i]));
    return list;
}

/* ---- Arguments ---- */

static const struct prompt_argument *find_argument(const struct prompt *prompt, const char *name)
{
    for (const struct prompt_argument *argument = prompt->arguments; argument->name != NULL;
         argument++)
        if (strcmp(argument->name, name) == 0)
            return argument;
    return NULL;
}

static CHECKED bool check_choice(const struct prompt_argument *argument, const char *value,
                                 struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    TEXT_AUTO choices = { 0 };

    for (size_t i = 0; argument->choices[i] != NULL; i++) {
        if (strcmp(argument->choices[i], value) == 0)
            return true;
        text_addf(&choices, "%s%s", i == 0 ? "" : ", ", argument->choices[i]);
    }
    return error_set(error, ERROR_INVALID, "\"%s\" is %s: it must be one of %s", argument->name,
                     value_show_text(value, shown), text_string(&choices));
}

static CHECKED bool check_value(const struct prompt_argument *argument, const json_t *value,
                                struct error *error)
{
    const char *text = json_string_value(value);
    char shown[VALUE_SHOWN_SIZE];

    if (text == NULL || text[0] == '\0' || strlen(text) > PROMPT_VALUE_BYTES)
        return error_set(error, ERROR_INVALID, "\"%s\" is %s: it must be a string of 1 to %d bytes",
                         argument->name, value_show(value, shown), PROMPT_VALUE_BYTES);
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return error_set(error, ERROR_INVALID, "\"%s\" is %s: it must be one line of text",
                             argument->name, value_show(value, shown));
    return argument->choices == NULL || check_choice(argument, text, error);
}

static CHECKED bool check_given(const struct prompt *prompt, const json_t *arguments,
                                struct error *error)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(arguments), name, value) {
        const struct prompt_argument *argument = find_argument(prompt, name);
        char shown[VALUE_SHOWN_SIZE];
        json_auto_t *given = json_string(name);

        if (argument == NULL)
            return error_set(error, ERROR_INVALID,
                             "%s has no argument %s: prompts/list lists its arguments",
                             prompt->name, value_show(given, shown));
        if (!check_value(argument, value, error))
            return false;
    }
    return true;
}

static CHECKED bool check_arguments(const struct prompt *prompt, const struct call *call,
                                    struct error *error)
{
    if (!check_given(prompt, call->arguments, error))
        return false;
    for (const struct prompt_argument *argument = prompt->arguments; argument->name != NULL;
         argument++) {
        const char *value = json_get_text(call->arguments, argument->name, NULL);

        if (value == NULL && argument->required)
            return error_set(error, ERROR_INVALID, "%s needs \"%s\": %s", prompt->name,
                             argument->name, argument->help);
        if (value != NULL && argument->instances != NULL
            && !argument->instances->find(call->services, value, error))
            return false;
    }
    return true;
}

/* ---- prompts/get ---- */

static CHECKED bool check_role(const struct prompt *prompt, const struct call *call,
                               struct error *error)
{
    if (role_allows(call->principal.role, prompt->role))
        return true;
    return error_set(error, ERROR_FORBIDDEN,
                     "%s uses tools that need the role %s; %s has the role %s", prompt->name,
                     role_name(prompt->role), call->principal.name,
                     role_name(call->principal.role));
}

static CHECKED bool refuse_missing(const struct prompt *const *table, const char *name,
                                   struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];
    json_auto_t *given = json_string(name);
    TEXT_AUTO names = { 0 };

    for (size_t i = 0; table[i] != NULL; i++)
        text_addf(&names, "%s%s", i == 0 ? "" : ", ", table[i]->name);
    return error_set(error, ERROR_NOT_FOUND, "no prompt is called %s: the prompts are %s",
                     value_show(given, shown), text_string(&names));
}

static CHECKED bool get(const struct prompt *const *table, struct call *call, const char *name,
                        const struct prompt **prompt, json_t *messages, struct error *error)
{
    const struct prompt *found = prompt_find(table, name);

    if (found == NULL)
        return refuse_missing(table, name, error);
    if (!check_role(found, call, error) || !check_arguments(found, call, error)
        || !found->write(call, messages, error))
        return false;
    *prompt = found;
    return true;
}

bool prompt_get(const struct prompt *const *table, struct call *call, const char *name,
                const struct prompt **prompt, json_t **out, struct error *error)
{
    json_auto_t *messages = json_array();

    call_begin(call, "prompts/get", "{}");
    if (!get(table, call, name, prompt, messages, error)) {
        call_refused(call, error);
        return false;
    }
    *out = json_incref(messages);
    return true;
}

void prompt_write(json_t *messages, const char *text)
{
    json_array_append_new(messages, json_pack("{s:s, s:{s:s, s:s}}", "role", "user", "content",
                                              "type", "text", "text", text));
}
