/* SPDX-License-Identifier: Apache-2.0 */
/* What waits to be sent on one client's connection: a bounded line of server-sent events. Any
 * thread puts; the loop's thread reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_loop;
struct sse_queue;

/* The stored part of a stream may be sent again at once, and as much be added meanwhile. */
#define SSE_QUEUE_FRAMES_LIMIT 512
#define SSE_QUEUE_BYTES_LIMIT ((size_t)16 << 20)

/* `wake(owner)` is called on the loop's thread after something was put, until sse_queue_close.
 * Starts with one reference. */
struct sse_queue *sse_queue_create(struct http_loop *loop, void (*wake)(void *owner), void *owner);
struct sse_queue *sse_queue_retain(struct sse_queue *sse_queue);
void sse_queue_release(struct sse_queue *sse_queue); /* NULL is fine */

/* An event with the lines `head` ("" or each with its end) and one JSON message as its data.
 * `sequence`: the event's number in its stream, ascending; 0: it has none. False if the client
 * left, the outlet ended, or the line is full: then it is cut, since a client that lost a frame
 * must not believe it saw all. */
bool sse_queue_put(struct sse_queue *sse_queue, int64_t sequence, const char *head,
                   const char *json, size_t length);
/* Whether the queue is less than half full. Optional events, such as progress, are added only then.
 */
bool sse_queue_has_room(struct sse_queue *sse_queue);
/* A comment, which keeps proxies from closing an idle connection; only where nothing waits. */
void sse_queue_put_comment(struct sse_queue *sse_queue);
void sse_queue_end(struct sse_queue *sse_queue); /* after what is waiting */
/* Ends it at once: what waits is dropped, since another outlet takes its place. */
void sse_queue_supersede(struct sse_queue *sse_queue);
bool sse_queue_is_open(struct sse_queue *sse_queue);
/* An outlet begins when something is put or it ends; or now. Until then the answer may still be
 * another than events. */
void sse_queue_begin(struct sse_queue *sse_queue);
bool sse_queue_is_begun(struct sse_queue *sse_queue);
/* Takes it back where it has not begun: nothing can be put any more. False: it has. */
bool sse_queue_withdraw(struct sse_queue *sse_queue);

/* For the loop's thread. */
enum sse_queue_state {
    SSE_QUEUE_READ,  /* *length bytes were copied */
    SSE_QUEUE_EMPTY, /* nothing is waiting now */
    SSE_QUEUE_ENDED, /* and nothing will come */
    SSE_QUEUE_CUT,   /* frames were lost */
};
enum sse_queue_state sse_queue_read(struct sse_queue *sse_queue, char *out, size_t size,
                                    size_t *length);
/* Bytes read so far: while this stands still though something waits, the client does not read. */
size_t sse_queue_bytes_read(struct sse_queue *sse_queue);
void sse_queue_close(struct sse_queue *sse_queue); /* the connection is over */

/* The number of the newest event that was read whole; 0: none was. Any thread. */
int64_t sse_queue_sequence(struct sse_queue *sse_queue);
