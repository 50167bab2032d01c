/* SPDX-License-Identifier: Apache-2.0 */
/* A client's TCP connection, from accepting to closing: its state, its deadlines, and refusals that
 * do not pass through libmicrohttpd. Used only on its loop's thread. */
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
    bool dispatched; /* it has been read completely, and is being answered */
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
    bool is_counted; /* it is counted among its address's connections */
    bool is_known;   /* a request on it was authenticated */
    bool ended;      /* the client stopped sending, but might still read */
    bool gone;       /* the client no longer reads either: it reset or closed the connection */
    bool sent_more;  /* the client sent more after the request that is being answered */
    bool refused;    /* our last answer was sent: further input is dropped */
    size_t dropped;  /* how many bytes of input were dropped */
    struct timeout deadline;
    enum deadline_kind waits_for; /* the kind of its deadline, while one is set */
    struct http_request *request; /* NULL: none */
    struct request_guard guard;
    bool target_is_sound; /* the current request's target is sound (request_target.h) */
    uint64_t answered;    /* how many requests on it are over */
};

/* For acceptor.c. */
struct http_connection *http_connection_open(struct http_loop *loop, struct MHD_Connection *mhd);
void http_connection_close(struct http_connection *connection);

/* Called by libmicrohttpd when it has read the first line of a request. Returns NULL, the initial
 * value of the request's slot. */
void *http_connection_first_line(void *loop, const char *target, struct MHD_Connection *mhd);

/* Sets what the connection waits for from now on, and its deadline. If the client has stopped
 * sending, DEADLINE_LEFT is used instead of a kind that waits for input. */
void http_connection_wait(struct http_connection *connection, enum deadline_kind kind);
/* Handles an epoll event of the connection. */
void http_connection_handle_event(struct http_connection *connection, uint32_t events);
/* Handles the expiry of the connection's deadline. */
void http_connection_expire(struct http_connection *connection);
/* Call it when the connection's request is over. */
void http_connection_end_request(struct http_connection *connection);
/* Refuses at once, without libmicrohttpd, and gives the client time to read the answer: the
 * connection closes when the client closes it or sends much more, or when its deadline has passed.
 * Call it only if no earlier request on the connection is still being answered. */
void http_connection_refuse(struct http_connection *connection, const struct http_reply *reply);
/* To make room for another client, closes a connection that is waiting for its client. Connections
 * of unknown clients are tried first, then, if `also_known` is set, those of known clients. False:
 * no connection can be closed now. */
bool http_connection_make_room(struct http_loop *loop, bool also_known);
/* Whether the headers of the current request passed the guard. */
bool http_connection_is_guarded(const struct http_connection *connection);
/* Whether the whole current request, including its body, passed the guard. */
bool http_connection_has_whole_request(const struct http_connection *connection);

/* ---- For http_reader.c ---- */

/* The loop's connection with this descriptor; NULL: there is none. */
struct http_connection *http_connection_find(const struct http_loop *loop, int fd);
/* If the connection's guard has found a fault, refuses the connection as soon as the earlier
 * requests have been answered. */
void http_connection_refuse_fault(struct http_connection *connection);
