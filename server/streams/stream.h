/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of JSON messages to one client, whichever connection carries it just now. One that is
 * kept numbers its events and stores them, so that the client can resume it on another connection,
 * also after a restart. Any thread. */
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

/* NULL: nobody reads it yet. Takes a reference of its own. Starts with one reference. */
struct stream *stream_create(struct sse_queue *sse_queue);
struct stream *stream_retain(struct stream *stream);
void stream_release(struct stream *stream); /* NULL is fine */
/* From now on its events are kept, as those of stream `id` (unique in the session); the next one's
 * number is `sequence` + 1. */
void stream_keep(struct stream *stream, struct store *store, const char *session, const char *id,
                 int64_t sequence);
/* Only as many bytes as `principal` may have kept; before anything is pushed. Borrowed, copied. */
void stream_limit(struct stream *stream, struct rate_limit *bytes, const char *principal);
const char *stream_id(const struct stream *stream); /* "" where nothing is kept */

/* One JSON message as an event. False: the stream ended, or nobody reads it, it is not kept either,
 * or the client reads too slowly and is cut. What is kept is true then: the client may resume. */
bool stream_push(struct stream *stream, const char *json, size_t length);
/* The same; `otherwise` is kept in its place where it is too much to keep. */
bool stream_push_answer(struct stream *stream, const char *json, size_t length,
                        const char *otherwise);
/* May progress still be pushed? Not while the client reads too slowly. */
bool stream_has_room(struct stream *stream);
/* The first event, without a message: from it a client can resume. Only for kept streams. */
void stream_prime(struct stream *stream);
/* From now on this connection carries it; the one before is ended. Where the stream is over, so is
 * the connection. False: event `last` is not the newest any more. */
bool stream_attach(struct stream *stream, int64_t last, struct sse_queue *sse_queue);
/* The same for a kept stream: first comes what followed event `after`. What was waiting for the
 * connection before is part of that. NOT_FOUND: there is no such event. BUSY:
 * events come faster than they are read. Blocks on the store. */
CHECKED bool stream_resume(struct stream *stream, int64_t after, struct sse_queue *sse_queue,
                           struct error *error);
/* A kept stream's newest event, and the newest that a connection took: a client that cannot say
 * where it was lacks what lies between. */
int64_t stream_sequence(struct stream *stream);
int64_t stream_heard(struct stream *stream);
void stream_set_heard(struct stream *stream, int64_t sequence);
bool stream_is_read(struct stream *stream); /* is there a connection that carries it? */
/* Ends the connection that carries the stream, but not the stream: the client comes back for the
 * rest. Nothing happens where it could not. */
void stream_hang_up(struct stream *stream);
/* What is pushed as the last event when the server ends the stream of its own accord. `json` is
 * heap memory, taken; NULL: just the end. */
void stream_set_farewell_take(struct stream *stream, char *json);
void stream_say_farewell(struct stream *stream);
void stream_end(struct stream *stream); /* after what is waiting */
bool stream_is_open(struct stream *stream);
