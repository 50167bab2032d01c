/* SPDX-License-Identifier: Apache-2.0 */
/* What a cloud's answer means: Google's error bodies (also inside a long operation), the token
 * endpoint's, and Kubernetes' Status, read into one sentence and one verdict. The bodies may be
 * hostile: what is shown of them is bounded and printable. Pure. */
#pragma once

#include <jansson.h>

#include "fleet/cloud/cloud.h"

struct cloud_problem {
    char kind[64];         /* the cloud's word for it; "" if it gave none */
    char message[400];     /* its sentence, what it names, and what helps */
    int64_t retry_after_s; /* -1: not given */
};

/* `body` NULL: it was no JSON. `status` of HTTP; inside an operation its gRPC code is read. */
void cloud_problem_read(long status, const json_t *body, struct cloud_problem *out);
/* The number of HTTP for a gRPC code: 8 is 429. */
long cloud_problem_status_of_code(int64_t code);

/* Whether the same request may be sent again. `is_read`: it changes nothing. */
enum cloud_verdict cloud_problem_judge(long status, const json_t *body, bool is_read);
