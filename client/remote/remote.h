/* SPDX-License-Identifier: Apache-2.0 */
/* A running server, called by MCP without sessions (2026-07-28). */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "client/remote/login.h"

struct remote {
    struct login login;
    bool can_ask;                     /* a user can answer a call's questions */
    bool (*cancelled)(void *context); /* NULL: never */
    void *context;
};

/* One JSON-RPC request. */
struct remote_request {
    const char *method;
    const char *name;           /* repeated in Mcp-Name; NULL: nothing */
    const json_t *params;       /* borrowed; NULL: none */
    const char *const *headers; /* further headers, "Name: value"; end with NULL; NULL: none */
    /* Called for each progress message; total 0: not known. NULL: no progress is requested. */
    void (*progress)(void *context, double progress, double total, const char *message);
    void *context;
};

/* Sends a request and waits for its result; meanwhile `progress` is called. *result: a new
 * reference. UPSTREAM: no opsbrain server answers there; UNAUTHENTICATED, FORBIDDEN: the key is at
 * fault; BUSY; CANCELLED; INVALID: the server's own error. */
CHECKED bool remote_ask(const struct remote *remote, const struct remote_request *request,
                        json_t **result, struct error *error);
/* POSTs a file unchanged to `path`, which follows the server's URL and includes the query. *answer:
 * a new reference. */
CHECKED bool remote_upload(const struct remote *remote, const char *path, const struct text *bytes,
                           json_t **answer, struct error *error);
/* Adds the header "name: value" as in 2026-07-28: the value is plain if possible, else in base64.
 */
void remote_add_header(struct text *out, const char *name, const char *value);
