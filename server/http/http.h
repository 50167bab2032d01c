/* SPDX-License-Identifier: Apache-2.0 */
/* What the HTTP threads of one server share: what the program gave them (http_server.h), and the
 * counts they keep together. */
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

/* Who may use the server, and how much of it. */
struct http_gate {
    /* Whose request is it, by its headers? Sets exchange->principal. False: it is answered. */
    bool (*admit)(struct exchange *exchange);
    /* May it still be served, though keys changed or one expired? Any thread. */
    bool (*may_go_on)(const struct exchange *exchange);
    /* Of a request whose body is read. False: it is answered. */
    bool (*check_rate)(struct exchange *exchange);
    /* Takes a place among the calls of its principal; BUSY says how many there are. */
    CHECKED bool (*enter)(struct exchange *exchange, struct error *error);
    void (*leave)(struct exchange *exchange);
};

/* The body of a refusal, in the form that the clients of this server know. `id` is that of the
 * request, as JSON; NULL: none. */
typedef void http_write_refusal(unsigned status, const char *id, const char *message,
                                struct text *out);

struct http {
    /* given */
    const struct settings *settings;
    const struct route_set *routes; /* ends with a set without routes */
    const struct http_gate *gate;
    void *gate_context;
    http_write_refusal *write_refusal;

    struct listen_address address;
    char address_text[LISTEN_TEXT_SIZE];
    struct origin_rules origin_rules;
    struct ip_networks trusted_proxies;
    struct rate_limit *addresses; /* connections of each */
    int64_t connections_limit;    /* the setting, or what the limit of open files leaves */

    struct http_loop **loops;
    unsigned loop_count;
    atomic_uint loops_started;
    int *sockets; /* -1 once its loop has it */

    char request_prefix[16]; /* "req_" and characters that differ at each start */
    atomic_uint_fast64_t requests;
    atomic_int in_flight; /* requests that are being answered, standing streams apart */
    atomic_int open_streams;
    atomic_int_fast64_t open_connections;
};
