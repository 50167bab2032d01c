/* SPDX-License-Identifier: Apache-2.0 */
/* A probe of a model server, and the engines that it recognizes. Private to fleet/. */
#pragma once

#include "fleet/engine.h"
#include "fleet/small_request.h"

struct probe {
    struct small_request ask;
    bool is_timed;       /* the caller set a time limit */
    char owner[64];      /* owned_by of the first model listed; "" if not reported */
    struct text metrics; /* the page at /metrics; empty if the server has none */
    json_t *details;     /* further facts, which become report->details */
    struct engine_report *report;
};

struct engine {
    const char *name;
    const char *owner; /* the owned_by in its list of models that identifies it; NULL: none does */
    /* Recognizes the engine by what is known about the server or by a request that only this engine
     * answers, and records what the engine reports about itself. Returns false, with nothing
     * recorded, if the server does not look like this engine. */
    bool (*read)(struct probe *probe);
};

extern const struct engine engines[];
extern const size_t engine_count;

#define CONTEXT_TOKENS_LIMIT 1000000000

/* Finds a model by its name; Ollama's ":latest" can be omitted. If `model` is "", finds the first
 * one. Returns NULL if no such model is listed. */
const struct engine_model *engine_model_find(const struct engine_report *report, const char *model);

/* Adds a model to the list. Skips an id that cannot be a name (one that is empty or too long, or
 * has control characters). If the list is full, adds only the endpoint's model, which then replaces
 * the last one. */
void probe_add_model(struct probe *probe, const char *id, int64_t context_tokens);
/* Sets the context length of the listed model `id`, or of all models if `id` is NULL. Ignores a
 * value that is not from 1 to CONTEXT_TOKENS_LIMIT. */
void probe_set_context(struct probe *probe, const char *id, int64_t context_tokens);
/* Returns the id, as listed, of the endpoint's model or, if the endpoint names no model, of the
 * first one; "" if there is no such model in the list. */
const char *probe_model(const struct probe *probe);
void probe_set_version(struct probe *probe, const char *version);
/* Adds to the details each member of `object` whose name is in `names`, if it is a string, a number
 * or a boolean. `names` ends with NULL. */
void probe_note_members(struct probe *probe, const json_t *object, const char *const *names);
/* Adds `value` to the details if it is above 0. */
void probe_note_integer(struct probe *probe, const char *name, int64_t value);
