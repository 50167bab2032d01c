/* SPDX-License-Identifier: Apache-2.0 */
/* One client connection: reads bytes, passes requests to the API, and sends bytes back. */
#pragma once

#include "tests/simserve/http.h"
#include "tests/simserve/server.h"

struct connection {
    struct server *server;
    int fd;
    bool readable;         /* the socket might have bytes to read (epoll is edge-triggered) */
    bool busy;             /* a request is being answered */
    bool closing;          /* the connection closes once `output` is sent */
    bool broken;           /* the peer is gone; nothing more can be sent */
    bool dead;             /* closed; freed at the end of the event loop's turn */
    bool is_ready;         /* on the server's list `ready` */
    bool close_after_this; /* closes without notice after the current answer */
    int64_t read_ns;       /* when the socket was last read, CLOCK_MONOTONIC */
    int64_t requests;
    struct text output; /* bytes that the socket did not accept at once */
    size_t sent;        /* bytes of `output` already sent */
    struct text input;
    struct sequence *sequence;
    struct timer idle;
    TAILQ_ENTRY(connection) link;       /* in the list `open` or `dead` */
    TAILQ_ENTRY(connection) ready_link; /* in the list `ready` */
    struct http_request request;
};

/* Adds a connection to the server. The connection owns `fd`: connection_close closes it. */
void connection_create(struct server *server, int fd);
/* Handles what epoll reported. */
void connection_on_events(struct connection *connection, uint32_t events);
/* Reads and dispatches requests until one cannot be answered at once or no complete one is left. */
void connection_process(struct connection *connection);

/* Sends the bytes that the socket accepts now, and the rest as soon as the socket accepts more. A
 * failure sets `broken`. */
void connection_send(struct connection *connection, const char *bytes, size_t length);
size_t connection_unsent_bytes(const struct connection *connection);
/* Call this when the current request has been answered. Continues with the next request, or closes
 * the connection. */
void connection_done(struct connection *connection);
/* Closes the connection and aborts its generation. *connection remains valid until the end of the
 * event loop's turn. */
void connection_close(struct connection *connection);
/* Like connection_close, but with a TCP reset. */
void connection_reset(struct connection *connection);
void connection_destroy(struct connection *connection);
