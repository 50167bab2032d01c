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
    const char *path; /* can contain places: route_pattern.h */
    bool open;        /* for probes: needs no key, accepts any Host and Origin */
    bool quiet;       /* its requests are not logged */
    bool limited;     /* its requests count towards their principal's limits */
    void (*serve)(struct exchange *exchange);
    /* The lowest role that is allowed, checked before the body is read; ROLE_NONE: no role is
     * needed. */
    enum role role;
    /* For pages: finds the principal by its own rules, instead of the gate. False: the answer, such
     * as a refusal or a redirect, is already set. Web pages from other origins can never read the
     * answers of such a route, whatever the settings allow. NULL: the gate finds the principal. */
    bool (*admit)(struct exchange *exchange, const char *path);
    /* Receives the body piece by piece, on the loop's thread; after it has set the reply, it is not
     * called again. NULL: the whole body is in exchange->body. */
    void (*take)(struct exchange *exchange, const char *bytes, size_t size);
    size_t body_limit; /* in bytes; 0: the setting body_limit_bytes */
};

/* A set of routes that share a context. */
struct route_set {
    const struct route *routes;  /* ends with a NULL path */
    void *context;               /* exchange->context of their requests */
    struct telemetry_row **rows; /* each route's metrics, in order; set by http_server_create */
};

/* Checks that each route is either open or has a role, unless it has an `admit` of its own.
 * INTERNAL: the message names the first route that fails. */
CHECKED bool routes_check(const struct route *table, struct error *error);

/* Finds the route of a request whose headers have been read. Checks the request's target and
 * headers and, unless the route is open, its Host, Origin and caller. If the request is refused, or
 * is a CORS preflight, its reply is set. */
void routes_admit(struct exchange *exchange, const char *target);
