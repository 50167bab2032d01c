/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a running server over MCP 2026-07-28 (which has no sessions), and uploads files to it. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/core/text.h"
#include "client/remote/login.h"

struct remote {
    struct login login;
    bool can_ask;                     /* a user can answer a call's questions */
    bool (*cancelled)(void *context); /* true: stop the call; NULL: never stop it */
    void *context;                    /* passed to `cancelled` */
};

/* One JSON-RPC request. */
struct remote_request {
    const char *method;
    const char *name;     /* the value of the header Mcp-Name; NULL: no such header */
    const json_t *params; /* borrowed; NULL: none */
    /* Further headers, each "Name: value". The last item is NULL. A NULL pointer: no headers. */
    const char *const *headers;
    /* Called for each progress message; total 0: not known. NULL: no progress is requested. */
    void (*progress)(void *context, double progress, double total, const char *message);
    void *context; /* passed to `progress` */
};

/* Sends a request and waits for its result; meanwhile `progress` is called. *result: a new
 * reference. UPSTREAM: no opsbrain server gave a complete answer. UNAUTHENTICATED: the server needs
 * a key, or does not accept this one. CANCELLED: `cancelled` returned true. FORBIDDEN, BUSY or
 * INVALID: any other error that the server reported, with its own error message. */
CHECKED bool remote_ask(const struct remote *remote, const struct remote_request *request,
                        json_t **result, struct error *error);
/* POSTs a file unchanged to `path`, which is appended to the server's URL and includes the query.
 * *answer: a new reference. The errors are those of remote_ask. */
CHECKED bool remote_upload(const struct remote *remote, const char *path, const struct text *bytes,
                           json_t **answer, struct error *error);
/* Adds the header "name: value" in the form of MCP 2026-07-28: the value is plain if possible, and
 * base64 otherwise. */
void remote_add_header(struct text *out, const char *name, const char *value);
