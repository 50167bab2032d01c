/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/audit_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "base/net/secrets.h"
#include "handlers/options.h"

#define TEXT_BYTES_MAX 256
#define ENTRIES_MAX 64 /* at most this many entries of a list or a map are kept */
#define JSON_BYTES_MAX 4000

static json_t *audited_text(const char *string)
{
    TEXT_AUTO masked = { 0 };
    TEXT_AUTO audited = { 0 };

    credential_add_masked(&masked, string);
    text_add_printable(&audited, text_string(&masked), masked.length, TEXT_BYTES_MAX);
    if (masked.length > TEXT_BYTES_MAX)
        text_addf(&audited, "... (%zu bytes)", masked.length);
    return json_string(text_string(&audited));
}

/* A user might have typed a password instead of a secret's name; passwords must not be stored. */
static json_t *audited_secret_name(const json_t *value)
{
    struct error ignored;
    const char *name = json_string_value(value);

    if (name != NULL && !credential_is_in(name)
        && (name[0] == '\0' || secret_name_check(name, &ignored)))
        return json_string(name);
    return json_string("(hidden: not a secret's name)");
}

static json_t *audited_map(const json_t *map)
{
    json_t *audited = json_object(), *value;
    const char *key;

    json_object_foreach(json_iterable(map), key, value)
        if (json_is_string(value) && json_object_size(audited) < ENTRIES_MAX && text_is_name(key)
            && !credential_is_in(key))
            json_object_set_new(audited, key, audited_text(json_string_value(value)));
    return audited;
}

static json_t *audited_list(const json_t *list)
{
    json_t *audited = json_array(), *item;
    size_t i;

    json_array_foreach(list, i, item)
        if (i < ENTRIES_MAX && json_is_number(item))
            json_array_append(audited, item);
    return audited;
}

static json_t *audited_value(const struct param *param, json_t *value)
{
    if (strcmp(param->name, "secret") == 0)
        return audited_secret_name(value);
    if (json_is_string(value))
        return audited_text(json_string_value(value));
    if (json_is_object(value))
        return audited_map(value);
    if (json_is_array(value))
        return audited_list(value);
    return json_incref(value);
}

char *audit_arguments(const struct tool *tool, const json_t *given)
{
    json_auto_t *audited = json_object(), *arguments = NULL;
    struct error ignored;
    size_t known = 0;
    char *written;

    if (!json_is_object(given) || !options_unfold(tool, given, &arguments, &ignored))
        arguments = json_incref(json_iterable(given));
    for (const struct param *param = tool->params; param->name != NULL; param++) {
        json_t *value = json_object_get(arguments, param->name);

        if (value == NULL)
            continue;
        known++;
        json_object_set_new(audited, param->name, audited_value(param, value));
    }
    if (known < json_object_size(arguments))
        json_object_set_new(audited, "unknown arguments",
                            json_integer((json_int_t)(json_object_size(arguments) - known)));
    written = json_write(audited);
    if (strlen(written) <= JSON_BYTES_MAX)
        return written;
    free(written);
    return memory_copy_text("{\"too long\":true}");
}
