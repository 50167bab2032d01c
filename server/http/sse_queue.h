/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of server-sent events for one client's connection. Any thread can put events;
 * only the loop's thread reads them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_loop;
struct sse_queue;

/* When all stored events of a stream are sent again (EVENTS_PER_STREAM in store/ledger/events.h),
 * the queue has room for them and for the same number of events that are added meanwhile. */
#define SSE_QUEUE_FRAMES_LIMIT 512
#define SSE_QUEUE_BYTES_LIMIT ((size_t)16 << 20)

/* Until sse_queue_close, `wake(owner)` is called on the loop's thread after events or comments were
 * put or refused, and after the queue ended. The queue starts with one reference. */
struct sse_queue *sse_queue_create(struct http_loop *loop, void (*wake)(void *owner), void *owner);
struct sse_queue *sse_queue_retain(struct sse_queue *sse_queue);
void sse_queue_release(struct sse_queue *sse_queue); /* NULL is fine */

/* Puts an event into the queue: the complete lines in `head` (can be ""), then one JSON message as
 * its data. `sequence` is the event's number in its stream (numbers ascend); 0: it has none. False:
 * the queue was closed, has ended, or is full. A full queue drops its events and stays
 * SSE_QUEUE_CUT, because a client that lost an event must not believe that it received them all. */
bool sse_queue_put(struct sse_queue *sse_queue, int64_t sequence, const char *head,
                   const char *json, size_t length);
/* Whether fewer than SSE_QUEUE_FRAMES_LIMIT / 2 events are waiting. Optional events, such as
 * progress, are added only then. */
bool sse_queue_has_room(struct sse_queue *sse_queue);
/* If nothing is waiting, puts a comment, which keeps proxies from closing an idle connection. */
void sse_queue_put_comment(struct sse_queue *sse_queue);
void sse_queue_end(struct sse_queue *sse_queue); /* ends it after the waiting events */
/* Ends the queue at once and drops the waiting events, because another queue replaces it. */
void sse_queue_supersede(struct sse_queue *sse_queue);
bool sse_queue_is_open(struct sse_queue *sse_queue);
/* Begins the queue now; otherwise it begins when an event or a comment is put, or when it ends.
 * Until it begins, the answer can still be something other than events. */
void sse_queue_begin(struct sse_queue *sse_queue);
bool sse_queue_is_begun(struct sse_queue *sse_queue);
/* Closes a queue that has not begun, so that nothing can be put any more. False: it has already
 * begun, and is not changed. */
bool sse_queue_withdraw(struct sse_queue *sse_queue);

/* For the loop's thread. */
enum sse_queue_state {
    SSE_QUEUE_READ,  /* *length bytes were copied */
    SSE_QUEUE_EMPTY, /* nothing is waiting now */
    SSE_QUEUE_ENDED, /* nothing is waiting, and nothing will follow */
    SSE_QUEUE_CUT,   /* events were lost */
};
enum sse_queue_state sse_queue_read(struct sse_queue *sse_queue, char *out, size_t size,
                                    size_t *length);
/* Bytes read so far: if this does not grow although events are waiting, the client is not
 * reading. */
size_t sse_queue_bytes_read(struct sse_queue *sse_queue);
void sse_queue_close(struct sse_queue *sse_queue); /* nobody reads it any more: drops its events */

/* The number of the newest event that was read completely; 0: there is none. Any thread. */
int64_t sse_queue_sequence(struct sse_queue *sse_queue);
