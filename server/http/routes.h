/* SPDX-License-Identifier: Apache-2.0 */
/* The routes that the server answers, in tables that the program passes in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "store/ledger/principals.h"

struct exchange;
struct telemetry_row;

struct route {
    const char *verb;
    const char *path; /* may contain places: route_pattern.h */
    bool open;        /* for probes: any Host and Origin, without a key */
    bool quiet;       /* no log line */
    bool limited;     /* its requests count towards their principal's limits */
    void (*serve)(struct exchange *exchange);
    /* The lowest role, checked before the body is read; ROLE_NONE: none is needed. */
    enum role role;
    /* For pages: finds the principal by its own rules, which replace the gate's; false: the request
     * was answered. No page of another origin may read the answer, whatever the settings allow.
     * NULL: the gate finds the principal. */
    bool (*admit)(struct exchange *exchange, const char *path);
    /* Receives the body piece by piece, on the loop's thread, until it replies. NULL: the whole
     * body is in exchange->body. */
    void (*take)(struct exchange *exchange, const char *bytes, size_t size);
    size_t body_limit; /* in bytes; 0: the setting body_limit_bytes */
};

/* A set of routes that share a context. */
struct route_set {
    const struct route *routes;  /* ends with a NULL path */
    void *context;               /* exchange->context of their requests */
    struct telemetry_row **rows; /* one for each route, in order; made by http_server_create */
};

/* Checks that each row either is open or has a role, unless it has an `admit` of its own. INTERNAL:
 * the message names the first row that fails. */
CHECKED bool routes_check(const struct route *table, struct error *error);

/* Finds the route of a request whose headers were read, and checks target and headers and, unless
 * the route is open, Host, Origin and the caller. If the request is refused, or is a preflight of
 * CORS, its reply is set. */
void routes_admit(struct exchange *exchange, const char *target);
