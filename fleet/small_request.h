/* Small questions to a model server: bounded in bytes, 5 s each, all of them before one deadline.
 * Private to fleet/. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/net/endpoint.h"

struct ask {
    const struct endpoint *endpoint;
    int64_t deadline_ns;              /* monotonic; of all questions together */
    int64_t each_within_ms;           /* 0: 5 s */
    bool (*cancelled)(void *context); /* NULL: never */
    void *context;
};

struct ask ask_begin(const struct endpoint *endpoint, int64_t all_within_ms);
/* GET, or POST where there is a JSON body. `path` begins with '/'. On false *failure is the class.
 * *out is yours. */
bool ask_json(const struct ask *ask, const char *path, const char *body, json_t **out,
              enum failure *failure, struct error *error);
/* GET of a text, at most 4 MiB, appended to *out. */
bool ask_text(const struct ask *ask, const char *path, struct text *out, enum failure *failure,
              struct error *error);
