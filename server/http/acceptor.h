/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the connections of one HTTP thread from its listening socket, within the caps on all of
 * them and on each address. Where a cap or the limit of descriptors is reached, new ones wait in
 * the kernel until others close, and those that only wait are closed for them: strangers first. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/net/ip.h"

struct http_connection;
struct http_loop;
struct note;

struct acceptor {
    int fd;            /* listens; -1 once closed */
    bool ready;        /* something waits on it */
    int64_t resume_ns; /* when to try again, monotonic; 0: not paused */
    int64_t told_ns;   /* the last log line */
    bool found_none;   /* in the last pause there was nothing of ours to close */

    /* of the connection that is being opened */
    struct ip_address address;
    bool is_proxy, is_counted;
};

/* Watches the socket with the loop's epoll; false with errno. */
bool acceptor_watch(struct http_loop *loop);
void acceptor_close(struct http_loop *loop);
/* Each turn: takes what waits. */
void acceptor_run(struct http_loop *loop);
/* Each turn: goes on after a pause. */
void acceptor_resume(struct http_loop *loop, int64_t now_ns);
/* Returns the client of the connection being opened; if it is counted, the count now belongs to the
 * connection, and is returned by acceptor_leave. */
void acceptor_enter(struct acceptor *acceptor, struct http_connection *connection);
/* A connection closed: a pause may end. */
void acceptor_leave(struct http_loop *loop, const struct http_connection *connection);
/* What another loop's acceptor asks for by the loop's room_note. */
void acceptor_make_room(struct note *room_note);
