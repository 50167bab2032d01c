/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may use the HTTP server: authentication, and the limits of each principal. */
#pragma once

#include "server/access/call_limits.h"
#include "server/http/http.h"

struct store;

/* What gate_functions find in http->gate_context. */
struct gate {
    struct store *store; /* for the audit log */
    struct authority *authority;
    struct call_limits limits;
};
extern const struct http_gate gate_functions;

/* Counts the request in the audit log as a refused login from its client's network, with `why` as
 * the detail. A failure to count it is only logged. */
void gate_count_refused_login(const struct exchange *exchange, const char *why);
