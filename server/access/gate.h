/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may use the HTTP server: authentication, and the limits of each principal. */
#pragma once

#include "server/access/call_limits.h"
#include "server/http/http.h"

struct store;

/* The http->gate_context for gate_functions. */
struct gate {
    struct store *store; /* for the audit log */
    struct authority *authority;
    struct call_limits limits;
};
extern const struct http_gate gate_functions;

/* Counts in the audit log that a caller at the request's address was refused. */
void gate_count_refused_login(const struct exchange *exchange, const char *why);
