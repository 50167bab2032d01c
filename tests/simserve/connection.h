/* SPDX-License-Identifier: Apache-2.0 */
/* One client connection: reads bytes, passes requests to the API, and sends bytes back. */
#pragma once

#include "tests/simserve/http.h"
#include "tests/simserve/server.h"

struct connection {
    struct server *server;
    int fd;
    bool readable; /* the socket may hold bytes (edge-triggered) */
    bool busy;     /* a request is being answered */
    bool closing;  /* it closes once the output is sent */
    bool broken;   /* the peer is gone; nothing more can be sent */
    bool dead;
    bool is_ready;         /* on the server's ready list */
    bool close_after_this; /* it closes unannounced, after the current answer */
    int64_t read_ns;       /* when the last bytes were read */
    int64_t requests;
    struct text output; /* what the socket has not accepted yet */
    size_t sent;        /* bytes of `output` that are sent */
    struct text input;
    struct sequence *sequence;
    struct timer idle;
    TAILQ_ENTRY(connection) link;       /* open or dead */
    TAILQ_ENTRY(connection) ready_link; /* ready */
    struct http_request request;
};

/* Takes over the file descriptor. */
void connection_create(struct server *server, int fd);
/* Handles what epoll reported. */
void connection_on_events(struct connection *connection, uint32_t events);
/* Reads and dispatches requests until none is complete. */
void connection_process(struct connection *connection);

/* Sends now what the socket accepts, and the rest when it can. Failures show as `broken`. */
void connection_send(struct connection *connection, const char *bytes, size_t length);
size_t connection_unsent_bytes(const struct connection *connection);
/* The current request is answered: continues with the next, or closes. */
void connection_done(struct connection *connection);
/* Closes it and aborts its generation; the memory stays valid until the end of the turn. */
void connection_close(struct connection *connection);
/* The same with a TCP reset. */
void connection_reset(struct connection *connection);
void connection_destroy(struct connection *connection);
