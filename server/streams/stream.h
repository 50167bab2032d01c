/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of JSON messages to one client, over whichever connection carries it at the moment. A
 * stored stream numbers its events, so that the client can resume it on another connection, even
 * after the server restarts. Any thread can call these functions. */
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

/* The stream begins with one reference, which belongs to the caller. It takes a reference to
 * `sse_queue` (NULL: no client reads the stream yet). */
struct stream *stream_create(struct sse_queue *sse_queue);
struct stream *stream_retain(struct stream *stream);
void stream_release(struct stream *stream); /* NULL is fine */
/* Stores the stream's events from now on, under the name `id`, which is unique in the session;
 * numbering continues after `sequence`. Call it before the stream is shared. */
void stream_keep(struct stream *stream, struct store *store, const char *session, const char *id,
                 int64_t sequence);
/* Limits the rate at which events are stored for `principal`: storing an event spends as many
 * permits of `bytes` (borrowed) as its message has bytes. Call it before anything is pushed. */
void stream_limit(struct stream *stream, struct rate_limit *bytes, const char *principal);
const char *stream_id(const struct stream *stream); /* "" if it is not stored */

/* Pushes one JSON message as an event. A stored stream accepts events even while nobody reads it,
 * because the client can resume it. A message that the limit set by stream_limit does not allow is
 * sent to a connected client, but not stored. False: the stream has ended; or the stream is not
 * stored, and its client is not connected or was cut off because it read too slowly. */
bool stream_push(struct stream *stream, const char *json, size_t length);
/* Does the same, except that a message that the limit does not allow is replaced in the store with
 * `otherwise` (NULL: nothing is stored). */
bool stream_push_answer(struct stream *stream, const char *json, size_t length,
                        const char *otherwise);
/* Whether optional messages, such as progress, can be pushed: not while the client reads too
 * slowly. */
bool stream_has_room(struct stream *stream);
/* Sends an event without a message, from which a client can resume. Only for stored streams. */
void stream_prime(struct stream *stream);
/* If `last` is the number of the newest event, moves the stream to the connection of `sse_queue`
 * and ends the previous connection. If the stream has ended, the new connection ends, too. False:
 * there is a newer event, and nothing was changed. */
bool stream_attach(struct stream *stream, int64_t last, struct sse_queue *sse_queue);
/* Does the same for a stored stream, but first sends the stored events after number `after`,
 * including those that were queued for the previous connection. NOT_FOUND: `after` is greater than
 * the newest event's number. BUSY: new events kept arriving while the stored ones were being sent.
 * Waits for the store. */
CHECKED bool stream_resume(struct stream *stream, int64_t after, struct sse_queue *sse_queue,
                           struct error *error);
/* stream_sequence returns the number of a stored stream's newest event. stream_received returns the
 * number of the newest event that was sent on a connection: if a client comes back without an event
 * id, its stream is resumed after that event. */
int64_t stream_sequence(struct stream *stream);
int64_t stream_received(struct stream *stream);
void stream_set_received(struct stream *stream, int64_t sequence);
bool stream_is_read(struct stream *stream); /* whether an open connection carries it */
/* Ends the connection that carries the stream, but not the stream: the client is expected to come
 * back for the rest. Does nothing if the stream was not primed, because the client might have no
 * event from which to resume. */
void stream_hang_up(struct stream *stream);
/* Sets the event that is sent last if the server itself ends the stream. `json` is heap memory,
 * which the stream takes over; NULL: no such event. */
void stream_set_closing_message_take(struct stream *stream, char *json);
/* Pushes the closing message, if there is one. Ends the stream in any case. */
void stream_send_closing_message(struct stream *stream);
void stream_end(struct stream *stream); /* ends it after the waiting events */
/* False: the stream has ended; or it is not stored, and no open connection carries it. */
bool stream_is_open(struct stream *stream);
