/* SPDX-License-Identifier: Apache-2.0 */
/* The data that the HTTP threads of one server share: what the program passed in (http_server.h),
 * the loops, the sockets and the counters. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/core/error.h"
#include "base/net/ip.h"
#include "server/http/listen.h"
#include "server/http/origin.h"
#include "server/settings/settings.h"

struct exchange;
struct http_loop;
struct rate_limit;
struct route_set;
struct text;

/* Callbacks that decide who is allowed to use the server, and how much. */
struct http_gate {
    /* Finds the principal from the request's headers, and sets exchange->principal. False: the
     * request was refused, and its answer is set. */
    bool (*admit)(struct exchange *exchange);
    /* Whether the caller is still authorized: keys may have changed or expired. Can be called on
     * any thread. */
    bool (*may_continue)(const struct exchange *exchange);
    /* Called after the body of a request has been read, if its route is `limited` (routes.h).
     * False: the request was refused, and its answer is set. */
    bool (*check_rate)(struct exchange *exchange);
    /* If the request's route is `limited`, counts the request among its principal's calls until
     * `leave` is called. BUSY: the principal has too many calls. */
    CHECKED bool (*enter)(struct exchange *exchange, struct error *error);
    void (*leave)(struct exchange *exchange);
};

/* Writes the body of a refusal in the form that this server's clients expect. `id` is the id of the
 * client's message, as JSON; NULL: none. */
typedef void http_write_refusal(unsigned status, const char *id, const char *message,
                                struct text *out);

/* Sets exchange->reply to a page that shows the refusal in a browser. */
typedef void http_reply_page(struct exchange *exchange, unsigned status, const char *message);

struct http {
    /* the program sets these */
    const struct settings *settings;
    const struct route_set *routes; /* ends with a set that has no routes */
    const struct http_gate *gate;
    void *gate_context;
    http_write_refusal *write_refusal;
    http_reply_page *refuse_browser;

    struct listen_address address;
    char address_text[LISTEN_TEXT_SIZE];
    struct origin_rules origin_rules;
    struct ip_networks trusted_proxies;
    struct rate_limit *addresses; /* counts the connections from each address */
    /* The limit on open connections: the setting connections, or less if the limit on open files
     * requires it. */
    int64_t connections_limit;

    struct http_loop **loops;
    unsigned loop_count;
    atomic_uint loops_started;
    int *sockets; /* the listening sockets; -1: not open, or owned by a loop */

    char request_prefix[16];       /* "req_" and random characters, new at each start */
    atomic_uint_fast64_t requests; /* how many have begun */
    atomic_int in_flight;          /* requests being answered, except long-lived streams */
    atomic_int open_streams;
    atomic_int_fast64_t open_connections;
};
