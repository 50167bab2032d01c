/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP threads of one server share: what the program passed to them (http_server.h), their
 * loops and sockets, and counts. */
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

/* Callbacks that decide who may use the server, and how much. */
struct http_gate {
    /* Finds the principal by the request's headers, and sets exchange->principal. False: the
     * request was answered. */
    bool (*admit)(struct exchange *exchange);
    /* Whether the caller is still allowed, in case keys changed or expired. Any thread. */
    bool (*may_continue)(const struct exchange *exchange);
    /* Called when the body of a request was read, if its route is `limited` (routes.h). False: the
     * request was answered. */
    bool (*check_rate)(struct exchange *exchange);
    /* Counts the request among the calls of its principal, until `leave`, if its route is
     * `limited`. BUSY: there are too many. */
    CHECKED bool (*enter)(struct exchange *exchange, struct error *error);
    void (*leave)(struct exchange *exchange);
};

/* Writes the body of a refusal, in the form that the clients of this server know. `id` is the id
 * that the client gave its message, as JSON; NULL: none. */
typedef void http_write_refusal(unsigned status, const char *id, const char *message,
                                struct text *out);

/* Sets exchange->reply to a refusal as a page, for a browser. */
typedef void http_reply_page(struct exchange *exchange, unsigned status, const char *message);

struct http {
    /* these are given by the program */
    const struct settings *settings;
    const struct route_set *routes; /* ends with a set without routes */
    const struct http_gate *gate;
    void *gate_context;
    http_write_refusal *write_refusal;
    http_reply_page *refuse_browser;

    struct listen_address address;
    char address_text[LISTEN_TEXT_SIZE];
    struct origin_rules origin_rules;
    struct ip_networks trusted_proxies;
    struct rate_limit *addresses; /* counts the connections of each address */
    /* The most connections: the setting, or fewer if the limit of open files requires it. */
    int64_t connections_limit;

    struct http_loop **loops;
    unsigned loop_count;
    atomic_uint loops_started;
    int *sockets; /* the listening sockets; -1: not open, or owned by a loop */

    char request_prefix[16];       /* "req_" and characters that differ at each start */
    atomic_uint_fast64_t requests; /* how many have begun */
    atomic_int in_flight;          /* requests that are being answered, without standing streams */
    atomic_int open_streams;
    atomic_int_fast64_t open_connections;
};
