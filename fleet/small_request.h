/* SPDX-License-Identifier: Apache-2.0 */
/* Small requests to a model server. Each is limited in bytes and in time, and all requests made
 * with one struct small_request share its deadline. Private to fleet/. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/net/endpoint.h"

struct small_request {
    const struct endpoint *endpoint;
    int64_t deadline_ns;              /* monotonic; for all requests together */
    int64_t each_within_ms;           /* time limit for each request; 0: 5 s */
    bool (*cancelled)(void *context); /* NULL: never */
    void *context;
};

/* Borrows `endpoint`; the deadline is `all_within_ms` from now. */
struct small_request small_request_begin(const struct endpoint *endpoint, int64_t all_within_ms);
/* Sends a GET if `body` is NULL, else a POST with this JSON. `path` begins with '/'. Reads an
 * answer of at most 4 MiB; the caller frees *out. *failure is the class of the failure, or
 * FAILURE_NONE. */
CHECKED bool small_request_json(const struct small_request *ask, const char *path, const char *body,
                                json_t **out, enum failure *failure, struct error *error);
/* Sends a GET, and appends an answer of at most 4 MiB to *out. */
CHECKED bool small_request_text(const struct small_request *ask, const char *path, struct text *out,
                                enum failure *failure, struct error *error);
