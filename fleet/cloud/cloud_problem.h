/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a cloud's error into a one-sentence message and a verdict. It reads errors from Google's
 * APIs, their long-running operations and Google's token endpoint, and Status objects from
 * Kubernetes. The bodies are untrusted: text from them is truncated and made printable. Does no
 * I/O. */
#pragma once

#include <jansson.h>

#include "fleet/cloud/cloud.h"

struct cloud_problem {
    char kind[64];         /* the cloud's error code; "" if it gave none */
    char message[400];     /* the cloud's message, its details and, if known, a fix */
    int64_t retry_after_s; /* the wait that the cloud asked for; -1: none */
};

/* `status` is the HTTP status of the answer, and `body` its body; NULL if that is not JSON. The
 * body can also be a long-running operation that failed, which arrives with the status 200. */
void cloud_problem_read(long status, const json_t *body, struct cloud_problem *out);
/* Returns the HTTP status that corresponds to a gRPC code (429 for 8); 500 for an unknown code. */
long cloud_problem_status_of_code(int64_t code);

/* Judges whether the same request can be sent again. `is_read`: the request changes nothing. */
enum cloud_verdict cloud_problem_judge(long status, const json_t *body, bool is_read);
