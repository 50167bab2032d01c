/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/completion.h"

#include <string.h>
#include <strings.h>

#include "base/core/memory.h"
#include "handlers/values.h"

static void offer(struct completion *completion, const char *value, const char *typed)
{
    if (strncasecmp(value, typed, strlen(typed)) != 0)
        return;
    if (completion->total++ < COMPLETION_VALUES_MAX)
        json_array_append_new(completion->values, json_string(value));
}

static CHECKED bool offer_instances(const struct resource_instances *instances,
                                    const struct services *services, const char *typed,
                                    struct completion *completion, struct error *error)
{
    FREE_AUTO struct instance *rows = NULL;
    char next[INSTANCE_VALUE_SIZE];
    size_t count;

    if (!instances->list(services, "", COMPLETION_SEARCHED_MAX, &rows, &count, next, error))
        return false;
    for (size_t i = 0; i < count; i++)
        offer(completion, rows[i].value, typed);
    return true;
}

static CHECKED bool complete(const char *const *choices, const struct resource_instances *instances,
                             const struct services *services, const char *typed,
                             struct completion *out, struct error *error)
{
    struct completion completion = { .values = json_array() };

    for (size_t i = 0; choices != NULL && choices[i] != NULL; i++)
        offer(&completion, choices[i], typed);
    if (instances != NULL && !offer_instances(instances, services, typed, &completion, error)) {
        json_decref(completion.values);
        return false;
    }
    *out = completion;
    return true;
}

static CHECKED bool refuse_argument(const char *owner, const char *argument, struct error *error)
{
    json_auto_t *given = json_string(argument);
    char shown[VALUE_SHOWN_SIZE];

    return error_set(
        error, ERROR_INVALID,
        "%s has no argument %s: prompts/list and resources/templates/list name all arguments",
        owner, value_show(given, shown));
}

bool completion_of_prompt(const struct prompt *const *table, const struct services *services,
                          const char *name, const char *argument, const char *typed,
                          struct completion *out, struct error *error)
{
    const struct prompt *prompt = prompt_find(table, name);

    if (prompt == NULL)
        return error_set(error, ERROR_NOT_FOUND,
                         "ref.name is not a prompt: prompts/list lists all prompts");
    for (const struct prompt_argument *at = prompt->arguments; at->name != NULL; at++)
        if (strcmp(at->name, argument) == 0)
            return complete(at->choices, at->instances, services, typed, out, error);
    return refuse_argument(prompt->name, argument, error);
}

bool completion_of_resource(const struct resource *const *table, const struct services *services,
                            const char *uri_template, const char *argument, const char *typed,
                            struct completion *out, struct error *error)
{
    char variable[INSTANCE_VALUE_SIZE];

    for (size_t i = 0; table[i] != NULL; i++) {
        if (strcmp(table[i]->uri, uri_template) != 0)
            continue;
        resource_variable(table[i], variable);
        if (variable[0] == '\0' || strcmp(variable, argument) != 0)
            return refuse_argument(table[i]->uri, argument, error);
        return complete(NULL, table[i]->instances, services, typed, out, error);
    }
    return error_set(
        error, ERROR_NOT_FOUND,
        "ref.uri is not a resource template: resources/templates/list lists all of them");
}
