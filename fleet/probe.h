/* SPDX-License-Identifier: Apache-2.0 */
/* A probe of a model server, and the engines that it recognizes. Private to fleet/. */
#pragma once

#include "fleet/engine.h"
#include "fleet/small_request.h"

struct probe {
    struct small_request ask;
    bool is_timed;       /* the caller set a time limit */
    char owner[64];      /* owned_by of the first model; "" if not reported */
    struct text metrics; /* the page /metrics; empty if there is none */
    json_t *details;     /* further facts, chosen by engine.c and engines.c */
    struct engine_report *report;
};

struct engine {
    const char *name;
    const char *owner; /* owned_by in its models list; NULL: the list does not reveal it */
    /* Recognizes the engine by what is known of the server or by a request that only this engine
     * answers, and records what the engine reports about itself. Returns false, with nothing
     * recorded, if the server does not look like this engine. */
    bool (*read)(struct probe *probe);
};

extern const struct engine engines[];
extern const size_t engine_count;

#define CONTEXT_TOKENS_LIMIT 1000000000

/* Finds a model by its name, which may lack Ollama's ":latest", or the first one if `model` is "".
 * Returns NULL if it is not listed. */
const struct engine_model *engine_model_find(const struct engine_report *report, const char *model);

/* Skips an id that cannot be a name (empty, too long, control characters). If the list is full,
 * only the endpoint's model is still added, in place of the last one. */
void probe_add_model(struct probe *probe, const char *id, int64_t context_tokens);
/* Sets the context of the listed model `id`, or of all models (NULL). Ignores an
 * impossible value. */
void probe_set_context(struct probe *probe, const char *id, int64_t context_tokens);
/* Returns the id of the endpoint's model or, if the endpoint names none, of the first one listed;
 * "" if that model is not listed. */
const char *probe_model(const struct probe *probe);
void probe_set_version(struct probe *probe, const char *version);
/* Adds to the details the members of `object` that are in `names` (ends with NULL) and are texts,
 * numbers or booleans. */
void probe_note_members(struct probe *probe, const json_t *object, const char *const *names);
/* Adds `value` to the details if it is above 0. */
void probe_note_integer(struct probe *probe, const char *name, int64_t value);
