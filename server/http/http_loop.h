/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP thread: a libmicrohttpd daemon driven by its own epoll loop. Everything that
 * touches a connection happens on its loop's thread; other threads post notes to the loop. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>

#include "base/core/error.h"
#include "base/core/log.h"
#include "base/net/ip.h"
#include "server/http/timeout_list.h"

#define HTTP_LOOP_EVENTS 256

struct MHD_Daemon;
struct http_connection;
struct http;
struct exchange;

/* Something to do on the loop's thread. Its owner keeps it alive until deliver() is called. */
struct note {
    struct note *next;
    bool posted; /* it is posted, and not yet delivered; protected by the loop's lock */
    void (*deliver)(struct note *note);
};

enum deadline_kind {
    /* from connecting, or the first byte of a later request, to the end of the headers */
    DEADLINE_HEADER,
    DEADLINE_IDLE, /* from an answer to the first byte of the next request */
    /* from the end of the headers to the end of the body or, if the connection is refused before
     * that, until it closes; begins again with each MiB of a file */
    DEADLINE_BODY,
    DEADLINE_SEND, /* from the answer until the client has read it */
    /* from when the client stops sending until the rest of its request has been read; also from
     * when a connection is refused by its guard (request_guard.h), or is shut down to make room,
     * until it closes */
    DEADLINE_LEFT,
    DEADLINE_REFUSAL,    /* expires at once: the connection is refused in the next turn */
    DEADLINE_KEEP_ALIVE, /* until a stream needs a comment */
    DEADLINE_PROBE,      /* the same, but shorter, for a client that stopped sending */
    DEADLINE_KINDS,
};

/* For acceptor.c. */
struct acceptor {
    int fd;            /* the listening socket; -1 once closed */
    bool ready;        /* connections are waiting to be accepted */
    int64_t resume_ns; /* when to accept again, monotonic; 0: not paused */
    int64_t logged_ns; /* when the last log line was written, monotonic; 0: none yet */
    /* this loop last found no connection to close, and has accepted none since */
    bool found_none;

    /* the next members describe the connection that is being opened */
    struct ip_address address;
    bool is_proxy, is_counted;
};

struct http_loop {
    /* asks the loop to make room for new connections on other loops; the first member, so that a
     * note can be cast to its loop */
    struct note room_note;
    struct http *http;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    int epoll_fd, wake_fd;

    pthread_mutex_t lock;
    struct note *notes, **notes_end;

    atomic_bool draining, stopping;
    atomic_bool keys_changed; /* some callers being served might no longer be authorized */

    /* the next members are for the loop's thread only */
    int64_t now_ns;        /* when this turn began, monotonic; exact enough for deadlines */
    int64_t key_expiry_ms; /* when the first of the streams' keys expires, UTC; 0: none expires */
    struct timeout_list deadlines[2][DEADLINE_KINDS]; /* [1]: connections of known clients */
    struct exchange *exchanges;
    struct http_connection **connections; /* indexed by descriptor; NULL: none */
    size_t connections_size;
    struct acceptor acceptor;
    bool resumed;         /* libmicrohttpd must run again for a connection that was resumed */
    struct log_lines log; /* log lines of the requests that ended in this turn */
    struct epoll_event events[HTTP_LOOP_EVENTS];
};

/* Posts a note, from any thread. False: it is already posted, and not yet delivered. */
bool http_loop_post(struct http_loop *loop, struct note *note);
/* Call it on the loop's thread, or after that thread has ended. */
void http_loop_deliver_notes(struct http_loop *loop);
/* From any thread: makes the loop check again whether the callers being served are still
 * authorized. */
void http_loop_check_keys(struct http_loop *loop);
void http_loop_wake(struct http_loop *loop); /* from any thread */
