/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to what runs on this machine: an engine's port, Ollama, the socket of Podman or Docker.
 * Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

struct machine_http {
    const char *socket;             /* "": by TCP */
    const char *base;               /* "http://127.0.0.1:11434", without '/' at its end */
    const char *bearer;             /* secret; "" for none */
    bool (*stopped)(void *context); /* asked several times a second; NULL: never */
    /* NULL, or called with each line of an answer that comes in lines, such as the progress of a
     * download. */
    void (*on_line)(void *context, const json_t *line);
    void *context;
    int64_t total_ms; /* 0: a few seconds */
};

struct machine_http_reply {
    long status;  /* 0: there was no answer */
    json_t *body; /* NULL: none, or not JSON */
};
void machine_http_finish(struct machine_http_reply *reply);
#define MACHINE_HTTP_REPLY_AUTO                                                                    \
    __attribute__((cleanup(machine_http_finish))) struct machine_http_reply

/* True for 2xx; otherwise `error` has what the server said. `out` is filled in both cases. */
CHECKED bool machine_http_call(const struct machine_http *http, const char *method,
                               const char *path, const json_t *body, struct machine_http_reply *out,
                               struct error *error);
/* The base URL of a port on loopback. */
const char *machine_http_base(int64_t port, char out[64]);
