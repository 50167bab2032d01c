/* SPDX-License-Identifier: Apache-2.0 */
/* The table of providers, and what several of them share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/base64.h"
#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/providers/container_command.h"
#include "fleet/providers/provider.h"
#include "fleet/recipes/recipe.h"

extern const struct provider provider_cloud_run, provider_cloud_tpu, provider_compute_engine,
    provider_kubernetes, provider_local;

static const struct provider *const providers[] = {
    &provider_cloud_run,  &provider_cloud_tpu, &provider_compute_engine,
    &provider_kubernetes, &provider_local,     NULL,
};

static const char *const verb_names[VERB_COUNT] = {
    [VERB_CREATE] = "create",   [VERB_UPDATE] = "update", [VERB_START] = "start",
    [VERB_STOP] = "stop",       [VERB_SCALE] = "scale",   [VERB_EXTEND] = "extend",
    [VERB_DESTROY] = "destroy",
};

const char *provider_verb_name(enum provider_verb verb)
{
    return verb_names[verb];
}

const struct provider *const *provider_all(void)
{
    return providers;
}

const struct provider *provider_find(const char *name)
{
    for (const struct provider *const *row = providers; *row != NULL; row++)
        if (strcmp((*row)->name, name) == 0)
            return *row;
    return NULL;
}

bool provider_check_verb(const struct provider *provider, enum provider_verb verb,
                         struct error *error)
{
    if ((provider->verbs & VERB_BIT(verb)) != 0)
        return true;
    return error_set(error, ERROR_UNSUPPORTED, "%s cannot %s: %s", provider->title,
                     provider_verb_name(verb), provider->lacks[verb]);
}

void step_list_free(struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_decref(steps[i].body);
    free(steps);
}

bool step_list_has(const struct step *steps, size_t count, const char *resource)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].resource, resource) == 0)
            return true;
    return false;
}

struct step *step_list_add(struct step **steps, size_t *count)
{
    *steps = memory_resize(*steps, *count + 1, sizeof **steps);
    (*steps)[*count] = (struct step){ 0 };
    return &(*steps)[(*count)++];
}

void observed_finish(struct observed *observed)
{
    json_decref(observed->fields);
    json_decref(observed->labels);
    observed->fields = NULL;
    observed->labels = NULL;
}

void observed_write(char *out, size_t size, const char *format, ...)
{
    TEXT_AUTO shown = { 0 };
    char whole[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(whole, sizeof whole, format, arguments);
    va_end(arguments);
    text_add_printable(&shown, whole, strlen(whole), size - 1);
    text_copy(out, size, text_string(&shown));
}

void observed_set_state(struct observed *out, const char *state, const char *phase,
                        const char *message)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, message, strlen(message), sizeof out->message - 1);
    text_copy(out->state, sizeof out->state, state);
    text_copy(out->phase, sizeof out->phase, phase);
    text_copy(out->message, sizeof out->message, text_string(&shown));
}

bool observed_is_of(const struct observed *observed, const struct desired *desired)
{
    return strcmp(observed->instance, desired->instance) == 0
           && strcmp(observed->deployment, desired->deployment) == 0;
}

bool observed_end_moves(const struct observed *now, const struct desired *desired)
{
    return desired->ends_ms > 0 && desired->ends_ms / 1000 != now->ends_ms / 1000;
}

void observed_list_free(struct observed *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        observed_finish(&list[i]);
    free(list);
}

struct observed *observed_list_add(struct observed **list, size_t *count)
{
    *list = memory_resize(*list, *count + 1, sizeof **list);
    (*list)[*count] = (struct observed){ 0 };
    return &(*list)[(*count)++];
}

const char *desired_at_end(const struct desired *desired)
{
    return desired->end_destroys ? "destroy" : "stop";
}

bool provider_check_name(const char *name, const char *title, size_t size, struct error *error)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (length > 0 && length < size && name[length] == '\0' && name[0] >= 'a'
        && name[length - 1] != '-')
        return true;
    return error_set(
        error, ERROR_INVALID,
        "on %s a deployment's name has at most %zu characters (a-z, 0-9 and '-'), begins "
        "with a letter and does not end with '-'",
        title, size - 1);
}

json_t *provider_schedule(int64_t at_ms)
{
    time_t at = (time_t)((at_ms + 59999) / 60000 * 60);
    struct tm utc;

    gmtime_r(&at, &utc);
    return json_sprintf("%d %d %d %d *", utc.tm_min, utc.tm_hour, utc.tm_mday, utc.tm_mon + 1);
}

void provider_set_program(const struct desired *desired, json_t *container)
{
    json_auto_t *argv = recipe_argv(desired->recipe, desired->deployment);
    size_t words = json_array_size(recipe_member(desired->recipe, "command"));
    json_auto_t *command = json_array();
    json_t *arguments = json_array(), *word;
    size_t i;

    json_array_foreach(argv, i, word)
        json_array_append(i < words ? command : arguments, word);
    if (words > 0)
        json_object_set(container, "command", command);
    json_object_set_new(container, "args", arguments);
}

void provider_compare_container(const json_t *container, json_t *fields)
{
    static const char *const names[] = { "image", "resources" };
    static const char *const command_parts[] = { "command", "args" };
    bool is_value = false;
    json_t *environment = json_object_get(container, "env");
    FREE_AUTO char *written =
        environment == NULL ? memory_copy_text("") : json_write_canonical(environment);

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *value = json_object_get(container, names[i]);

        json_object_set_new(fields, names[i], value == NULL ? json_null() : json_deep_copy(value));
    }
    for (size_t i = 0; i < sizeof command_parts / sizeof *command_parts; i++) {
        json_t *masked =
            container_command_mask(json_object_get(container, command_parts[i]), &is_value);

        json_object_set_new(fields, command_parts[i], masked == NULL ? json_null() : masked);
    }
    json_object_set_new(fields, "env", provider_digest(written));
}

bool provider_read_key(const char *base64, char out[SECRET_VALUE_SIZE])
{
    TEXT_AUTO key = { 0 };
    bool good = base64_decode(&key, base64, strlen(base64)) && key.length > 0
                && key.length < SECRET_VALUE_SIZE;

    good = good && strlen(key.data) == key.length;
    if (good)
        text_copy(out, SECRET_VALUE_SIZE, text_string(&key));
    if (key.data != NULL)
        explicit_bzero(key.data, key.length);
    return good;
}

json_t *provider_digest(const char *text)
{
    char digest[DIGEST_TEXT_SIZE];

    digest_sha256_text(text, strlen(text), digest);
    digest[16] = '\0';
    return json_string(digest);
}

int64_t desired_replicas(const struct desired *desired)
{
    if (desired->replicas > 0 || desired->recipe == NULL)
        return desired->replicas > 0 ? desired->replicas : 1;
    return recipe_integer(desired->recipe, "scale.max", 1);
}
