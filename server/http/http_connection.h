/* SPDX-License-Identifier: Apache-2.0 */
/* A client's TCP connection, from accepting to closing: its state, its deadlines, and refusals
 * that do not pass through libmicrohttpd. Only on its loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/net/ip.h"
#include "server/http/http_loop.h"
#include "server/http/request_guard.h"
#include "server/http/timeout_list.h"

struct MHD_Connection;
struct http_reply;

/* The state of the connection's current request. */
struct http_request {
    const char *id;
    bool dispatched; /* it was read completely, and is being answered */
    bool suspended;
    /* Called when the client stops sending, or disconnects, while the request is suspended. */
    void (*hang_up)(struct http_request *request);
};

struct http_connection {
    struct http_loop *loop;
    int fd;
    struct ip_address address; /* the address of the client, or of its proxy */
    char address_text[IP_TEXT_SIZE];
    bool is_proxy;   /* it comes from a trusted proxy, which names the client of each request */
    bool is_counted; /* it counts among the connections of its address */
    bool is_known;   /* a request on it was authenticated */
    bool ended;      /* the client stopped sending; it may still read */
    bool gone;       /* the client does not read either: a reset, or both sides are closed */
    bool sent_more;  /* the client sent more after the request being answered */
    bool refused;    /* our last answer was sent: further input is dropped */
    size_t dropped;  /* bytes of the dropped input */
    struct timeout deadline;
    enum deadline_kind waits_for; /* the kind of its deadline, while that is set */
    struct http_request *request; /* NULL: none */
    struct request_guard guard;
    bool target_is_sound; /* of the current request: request_target.h */
    uint64_t answered;    /* how many requests on it are over */
};

/* For acceptor.c. */
struct http_connection *http_connection_open(struct http_loop *loop, struct MHD_Connection *mhd);
void http_connection_close(struct http_connection *connection);

/* Called by libmicrohttpd when it has read the first line of a request. Returns NULL, the first
 * value of the request's slot. */
void *http_connection_first_line(void *loop, const char *target, struct MHD_Connection *mhd);

/* Sets what the connection waits for from now on, and its deadline. If the client has stopped
 * sending, DEADLINE_LEFT replaces each kind that waits for input. */
void http_connection_wait(struct http_connection *connection, enum deadline_kind kind);
/* Handles an event of epoll. */
void http_connection_handle_event(struct http_connection *connection, uint32_t events);
/* Handles the end of the connection's deadline. */
void http_connection_expire(struct http_connection *connection);
/* Call it when the connection's request is over. */
void http_connection_end_request(struct http_connection *connection);
/* Refuses at once, without libmicrohttpd, and gives the client time to read the answer: the
 * connection closes when the client closes it or sends much more, or when its deadline has passed.
 * No other request may be in progress on it. */
void http_connection_refuse(struct http_connection *connection, const struct http_reply *reply);
/* Closes a connection that waits for its client, to make room for another client: one of an unknown
 * client or, if none of those may be closed and `also_known` is set, of a known client. False: none
 * may be closed. */
bool http_connection_make_room(struct http_loop *loop, bool also_known);
/* Whether the current request passed the guard, and whether its whole body has arrived. */
bool http_connection_is_guarded(const struct http_connection *connection);
bool http_connection_has_whole_request(const struct http_connection *connection);

/* ---- For http_reader.c ---- */

/* The loop's connection with that descriptor; NULL: there is none. */
struct http_connection *http_connection_find(const struct http_loop *loop, int fd);
/* Refuses the connection, if its guard has found a fault, as soon as the earlier requests are
 * answered. */
void http_connection_refuse_fault(struct http_connection *connection);
