/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP calls to servers on this machine: engines and Ollama, and Podman or Docker at its socket.
 * Private to fleet/machine. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

struct machine_http {
    const char *socket; /* path of the server's Unix socket; "": TCP */
    const char *base;   /* "http://127.0.0.1:11434", without '/' at its end */
    const char *bearer; /* secret; "" for none */
    /* Returns true if the call must be cancelled. Called several times a second. NULL: the call is
     * never cancelled. */
    bool (*stopped)(void *context);
    /* Called with each line of an answer that has one JSON value on each line, such as the
     * progress of a download. NULL: the whole answer is one JSON value. */
    void (*on_line)(void *context, const json_t *line);
    void *context;      /* for `stopped` and `on_line` */
    int64_t timeout_ms; /* for the whole call; 0: 5 s */
};

struct machine_http_reply {
    long status;  /* of the HTTP answer; 0: there was no answer */
    json_t *body; /* NULL: there is none, it is not JSON, or on_line got it */
};
void machine_http_finish(struct machine_http_reply *reply);
#define MACHINE_HTTP_REPLY_AUTO                                                                    \
    __attribute__((cleanup(machine_http_finish))) struct machine_http_reply

/* Returns true for a complete 2xx answer; otherwise `error` has the status and the server's own
 * message, or says why there was no complete answer. In both cases *out is filled; free it with
 * machine_http_finish. */
CHECKED bool machine_http_call(const struct machine_http *http, const char *method,
                               const char *path, const json_t *body, struct machine_http_reply *out,
                               struct error *error);
/* Writes the base URL of a loopback port; returns `out`. */
const char *machine_http_base(int64_t port, char out[64]);
