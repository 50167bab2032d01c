/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of JSON messages to one client, over whichever connection carries it at the moment. A
 * stored stream numbers its events, so that the client can resume it on another connection, also
 * after a restart. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct sse_queue;
struct rate_limit;
struct store;
struct stream;

#define STREAM_ID_SIZE 24
#define STREAM_RETRY_MS 1000 /* how long clients wait before they reconnect */

/* The stream begins with one reference, and holds a reference of its own to the queue; NULL: nobody
 * reads it yet. */
struct stream *stream_create(struct sse_queue *sse_queue);
struct stream *stream_retain(struct stream *stream);
void stream_release(struct stream *stream); /* NULL is fine */
/* From now on its events are stored, as those of stream `id` (unique in the session); the next
 * one's number is `sequence` + 1. */
void stream_keep(struct stream *stream, struct store *store, const char *session, const char *id,
                 int64_t sequence);
/* Limits the stored bytes to what `principal` may store; call it before anything is pushed. The
 * name is copied. */
void stream_limit(struct stream *stream, struct rate_limit *bytes, const char *principal);
const char *stream_id(const struct stream *stream); /* "" if it is not stored */

/* One JSON message as an event. False: the stream ended, or nobody reads it and it is not stored,
 * or the client reads too slowly and was cut. True if the event was stored nevertheless: the client
 * may resume. */
bool stream_push(struct stream *stream, const char *json, size_t length);
/* The same; if the message is too large to store, `otherwise` is stored in its place. */
bool stream_push_answer(struct stream *stream, const char *json, size_t length,
                        const char *otherwise);
/* Whether progress may still be pushed: not while the client reads too slowly. */
bool stream_has_room(struct stream *stream);
/* Sends a first event without a message, from which a client can resume. Only for stored streams.
 */
void stream_prime(struct stream *stream);
/* From now on this connection carries it; the one before is ended. If the stream is over, so is the
 * connection. False: event `last` is not the newest any more. */
bool stream_attach(struct stream *stream, int64_t last, struct sse_queue *sse_queue);
/* The same for a stored stream, beginning with what followed event `after`. That includes what was
 * waiting for the connection before. NOT_FOUND: there is no such event. BUSY: events come faster
 * than they are read. Blocks on the store. */
CHECKED bool stream_resume(struct stream *stream, int64_t after, struct sse_queue *sse_queue,
                           struct error *error);
/* A stored stream's newest event, and the newest that a connection received: a client that does not
 * know its position lacks those between. */
int64_t stream_sequence(struct stream *stream);
int64_t stream_received(struct stream *stream);
void stream_set_received(struct stream *stream, int64_t sequence);
bool stream_is_read(struct stream *stream); /* whether a connection carries it */
/* Ends the connection that carries the stream, but not the stream: the client comes back for the
 * rest. Does nothing if the client could not. */
void stream_hang_up(struct stream *stream);
/* Sets the last event for when the server itself ends the stream. `json` is heap memory, taken
 * over; NULL: no such event. */
void stream_set_closing_message_take(struct stream *stream, char *json);
void stream_send_closing_message(struct stream *stream);
void stream_end(struct stream *stream); /* ends it after the waiting events */
bool stream_is_open(struct stream *stream);
