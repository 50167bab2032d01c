/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/probe.h"

#include <string.h>

#define NOTED_TEXT_BYTES 200

static void copy_printable(char *out, size_t size, const char *foreign)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, foreign, strlen(foreign), size - 1);
    text_copy(out, size, text_string(&shown));
}

static bool is_model_id(const char *id)
{
    size_t length = strlen(id);

    if (length == 0 || length >= sizeof((struct engine_model *)NULL)->id)
        return false;
    for (const char *c = id; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    return true;
}

/* Returns true if `model` names the listed `id`. "llama3.2" is Ollama's short form of
 * "llama3.2:latest". */
static bool is_called(const char *id, const char *model)
{
    size_t length = strlen(model);

    return strncmp(id, model, length) == 0
           && (id[length] == '\0' || strcmp(id + length, ":latest") == 0);
}

const struct engine_model *engine_model_find(const struct engine_report *report, const char *model)
{
    if (model[0] == '\0')
        return report->model_count > 0 ? &report->models[0] : NULL;
    for (size_t i = 0; i < report->model_count; i++)
        if (is_called(report->models[i].id, model))
            return &report->models[i];
    return NULL;
}

/* Returns the row for one more model. If the list is full, returns NULL or, for the endpoint's
 * model, the last row, which is then overwritten. */
static struct engine_model *row_for(struct probe *probe, const char *id)
{
    struct engine_report *report = probe->report;

    if (report->model_count < ENGINE_MODELS)
        return &report->models[report->model_count++];
    json_object_set_new(probe->details, "models_left_out", json_true());
    return is_called(id, probe->ask.endpoint->model) ? &report->models[ENGINE_MODELS - 1] : NULL;
}

static int64_t checked_context(int64_t tokens)
{
    return tokens > 0 && tokens <= CONTEXT_TOKENS_LIMIT ? tokens : 0;
}

void probe_add_model(struct probe *probe, const char *id, int64_t context_tokens)
{
    struct engine_model *model = is_model_id(id) ? row_for(probe, id) : NULL;

    if (model == NULL)
        return;
    *model = (struct engine_model){ .context_tokens = checked_context(context_tokens) };
    text_copy(model->id, sizeof model->id, id);
}

void probe_set_context(struct probe *probe, const char *id, int64_t context_tokens)
{
    for (size_t i = 0; i < probe->report->model_count; i++)
        if (checked_context(context_tokens) > 0
            && (id == NULL || strcmp(probe->report->models[i].id, id) == 0))
            probe->report->models[i].context_tokens = context_tokens;
}

const char *probe_model(const struct probe *probe)
{
    const struct engine_model *model = engine_model_find(probe->report, probe->ask.endpoint->model);

    return model != NULL ? model->id : "";
}

void probe_set_version(struct probe *probe, const char *version)
{
    copy_printable(probe->report->version, sizeof probe->report->version, version);
}

void probe_note_members(struct probe *probe, const json_t *object, const char *const *names)
{
    for (; *names != NULL; names++) {
        json_t *value = json_object_get(object, *names);
        char shown[NOTED_TEXT_BYTES + 1];

        if (json_is_string(value)) {
            copy_printable(shown, sizeof shown, json_string_value(value));
            json_object_set_new(probe->details, *names, json_string(shown));
        } else if (json_is_number(value) || json_is_boolean(value)) {
            json_object_set(probe->details, *names, value);
        }
    }
}

void probe_note_integer(struct probe *probe, const char *name, int64_t value)
{
    if (value > 0)
        json_object_set_new(probe->details, name, json_integer(value));
}
