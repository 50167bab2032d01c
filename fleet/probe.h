/* SPDX-License-Identifier: Apache-2.0 */
/* One probe of a model server on its way, and the engines that can be told apart. Private to
 * fleet/. */
#pragma once

#include "fleet/engine.h"
#include "fleet/small_request.h"

struct probe {
    struct small_request ask;
    bool is_timed;       /* the caller said how long it may take */
    char owner[64];      /* owned_by of the first model; "" if not told */
    struct text metrics; /* /metrics; empty if there is none */
    json_t *details;     /* what else the server tells, by our names */
    struct engine_report *report;
};

struct engine {
    const char *name;
    const char *owner; /* owned_by in its models list; NULL: says nothing of it */
    /* Asks what only this engine answers and notes it. False, with nothing noted, where the server
     * does not look like it. */
    bool (*read)(struct probe *probe);
};

extern const struct engine engines[];
extern const size_t engine_count;

#define CONTEXT_TOKENS_LIMIT 1000000000

/* The model of a name ("": the first), NULL if it is not listed. */
const struct engine_model *engine_model_find(const struct engine_report *report, const char *model);

/* Ids that cannot be a name (too long, control characters) are left out. */
void probe_add_model(struct probe *probe, const char *id, int64_t context_tokens);
/* Of one listed model, or of all (NULL); nothing where the figure cannot be one. */
void probe_set_context(struct probe *probe, const char *id, int64_t context_tokens);
/* The id of the model that facts are wanted of: the endpoint's, or the first; "" if it is not
 * listed. */
const char *probe_model(const struct probe *probe);
void probe_set_version(struct probe *probe, const char *version);
/* Notes those members of `object` that are in `names` (ends with NULL) and are scalars. */
void probe_note_members(struct probe *probe, const json_t *object, const char *const *names);
void probe_note_integer(struct probe *probe, const char *name, int64_t value); /* if above 0 */
