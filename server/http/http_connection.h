/* SPDX-License-Identifier: Apache-2.0 */
/* A client's TCP connection, from accepting to closing: what it waits for, when it times out, and
 * what is refused before libmicrohttpd reads it. Only on its loop's thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/net/ip.h"
#include "server/http/http_loop.h"
#include "server/http/request_guard.h"
#include "server/http/timeout_list.h"

struct MHD_Connection;
struct http_reply;

/* The current request, as its connection knows it. */
struct http_request {
    const char *id;
    bool dispatched; /* it is read, and being answered */
    bool suspended;
    /* The client stopped sending, or disconnected, while it is suspended. */
    void (*hang_up)(struct http_request *request);
};

struct http_connection {
    struct http_loop *loop;
    int fd;
    struct ip_address address; /* the client's, or its proxy's */
    char address_text[IP_TEXT_SIZE];
    bool is_proxy;   /* a trusted proxy: it names the client of each request */
    bool is_counted; /* counted among those of its address */
    bool is_known;   /* a request on it was authenticated */
    bool ended;      /* the client stopped sending; it may still read */
    bool gone;       /* it does not read either: it was reset, or both sides are closed */
    bool sent_more;  /* after the request that is being answered */
    bool refused;    /* our last answer was sent: further input is dropped */
    size_t dropped;  /* bytes of the dropped input */
    struct timeout deadline;
    enum deadline_kind waits_for; /* the list in which the deadline is set */
    struct http_request *request; /* NULL: none */
    struct request_guard guard;
    bool target_is_sound; /* of the current request: request_target.h */
    uint64_t answered;    /* requests */
};

/* For acceptor.c. */
struct http_connection *http_connection_open(struct http_loop *loop, struct MHD_Connection *mhd);
void http_connection_close(struct http_connection *connection);

/* Called by libmicrohttpd when the first line of a request was read; it returns the request's slot.
 * The context is the loop. */
void *http_connection_first_line(void *loop, const char *target, struct MHD_Connection *mhd);

/* Sets what it waits for from now on. */
void http_connection_wait(struct http_connection *connection, enum deadline_kind kind);
void http_connection_take_event(struct http_connection *connection, uint32_t events); /* epoll's */
void http_connection_expire(
    struct http_connection *connection); /* the expected input did not arrive in time */
/* Its request is answered. */
void http_connection_end_request(struct http_connection *connection);
/* Answers at once, bypassing libmicrohttpd, and lets the client read it: the connection closes when
 * the client closes, or its deadline passes. No other request may be in progress on it. */
void http_connection_refuse(struct http_connection *connection, const struct http_reply *reply);
/* Closes a waiting connection to make room for another client: the oldest of the first kind that
 * exists, either only of unknown clients or also of known ones. False: there is none. */
bool http_connection_make_room(struct http_loop *loop, bool known);
/* Whether the current request passed the guard, and whether its whole body has arrived. */
bool http_connection_is_guarded(const struct http_connection *connection);
bool http_connection_has_whole_request(const struct http_connection *connection);

/* ---- For http_reader.c ---- */

/* The loop's connection with that descriptor; NULL: none. */
struct http_connection *http_connection_find(const struct http_loop *loop, int fd);
/* After its guard found a fault: refuses it when its turn has come. */
void http_connection_refuse_fault(struct http_connection *connection);
