/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop of a load thread. It watches libcurl's sockets with epoll, because libcurl's own
 * polling is slow with many connections, and measures how late events are handled. */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/core/error.h"

struct epoll_event;
struct transfer;

#define LOAD_LOOP_BUFFER_BYTES 65536

/* A descriptor that is watched without libcurl. This struct is a member of the struct that owns the
 * descriptor. */
struct load_loop_source {
    void (*on_ready)(struct load_loop_source *source, uint32_t events);
};

struct load_loop {
    CURLM *multi;
    /* The earliest time at which the descriptor being handled may have become ready. */
    int64_t readable_ns;
    /* Called each time that the loop's timer has fired (200 times a second). `late_ns`: how long
     * after the firing. */
    void (*late)(void *context, int64_t late_ns);
    void *context;
    char *buffer;                               /* LOAD_LOOP_BUFFER_BYTES, shared by all reads */
    TAILQ_HEAD(transfer_queue, transfer) ended; /* ended exchanges: see transfer_queue_ended */

    /* Private to load_loop.c: */
    int epoll, wake, timer;
    int64_t curl_due_ns;   /* when libcurl wants to be called */
    int64_t timer_due_ns;  /* when the timer fires next */
    int64_t polled_ns;     /* when epoll_wait returned last */
    bool poll_was_full;    /* more events may have been ready than the last poll returned */
    int64_t recent_events; /* events since the timer last fired */
    bool gathers;          /* the loop pauses before polls: see GATHER_EVENTS_PER_S */
    struct epoll_event *events;
};

/* Sets up a loop for `connections` connections, which are kept open for reuse. BUSY if the loop
 * cannot open its own descriptors. Free with load_loop_finish, even if this fails. */
CHECKED bool load_loop_init(struct load_loop *loop, long connections,
                            void (*late)(void *context, int64_t late_ns), void *context,
                            struct error *error);
void load_loop_finish(struct load_loop *loop);
/* From now on, up to `streams` HTTP/2 exchanges share a connection. */
void load_loop_share_connections(struct load_loop *loop, int64_t streams);

/* Waits until a descriptor is ready, libcurl wants to be called, or until_ns (monotonic) is
 * reached; then handles what is ready or due. Does not wait while `ended` contains an exchange.
 * Afterwards, transfer_take_ended returns the exchanges that have ended. */
void load_loop_turn(struct load_loop *loop, int64_t until_ns);
/* Watches a descriptor, edge-triggered, until it is closed: calls source->on_ready when the
 * descriptor becomes readable or writable, or when the other side closes it. `again`: it is already
 * being watched, and is reported again if it is ready now. Returns false and sets errno if this
 * fails. */
bool load_loop_watch(struct load_loop *loop, int descriptor, struct load_loop_source *source,
                     bool again);
/* Ends the wait of load_loop_turn. Any thread can call this. */
void load_loop_wake(struct load_loop *loop);
