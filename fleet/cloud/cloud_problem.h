/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a cloud's error (Google's error bodies, also inside a long operation, the token endpoint's,
 * and Kubernetes' Status) into one sentence and one verdict. The bodies may be hostile: the text
 * taken from them is bounded and printable. Pure. */
#pragma once

#include <jansson.h>

#include "fleet/cloud/cloud.h"

struct cloud_problem {
    char kind[64];         /* the cloud's error code; "" if it gave none */
    char message[400];     /* its message, what it names, and a fix */
    int64_t retry_after_s; /* -1: not given */
};

/* `body` NULL: it was not JSON. `status` is HTTP's; inside an operation its gRPC code is read. */
void cloud_problem_read(long status, const json_t *body, struct cloud_problem *out);
/* The HTTP status for a gRPC code: 8 is 429. */
long cloud_problem_status_of_code(int64_t code);

/* Whether the same request may be sent again. `is_read`: it changes nothing. */
enum cloud_verdict cloud_problem_judge(long status, const json_t *body, bool is_read);
