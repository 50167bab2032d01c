/* A stream of server-sent events to one client: frames wait in a bounded line until the client's
 * connection takes them. Any thread pushes; the loop's thread reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/text.h"

struct http_loop;
struct stream;

#define STREAM_FRAMES_LIMIT 256
#define STREAM_BYTES_LIMIT ((size_t)16 << 20)

/* `wake(owner)` is called on the loop's thread after something was pushed, until stream_close.
 * Starts with one reference. */
struct stream *stream_create(struct http_loop *loop, void (*wake)(void *owner), void *owner);
struct stream *stream_retain(struct stream *stream);
void stream_release(struct stream *stream); /* NULL is fine */

/* One JSON message as an event. False if the client left, the stream ended, or the line is full:
 * then the stream is cut, since a client that lost a frame must not believe it saw all. */
bool stream_push(struct stream *stream, const char *json, size_t length);
/* Is the line less than half full? What may be left out, as progress may, is pushed only then. */
bool stream_has_room(struct stream *stream);
/* A comment, which keeps proxies from closing an idle connection; only where nothing waits. */
void stream_push_comment(struct stream *stream);
/* What is pushed as the last event when the server ends the stream of its own accord. `json` is
 * heap memory, taken; NULL: just the end. */
void stream_set_farewell_take(struct stream *stream, char *json);
void stream_say_farewell(struct stream *stream);
void stream_end(struct stream *stream); /* after what is waiting */
bool stream_is_open(struct stream *stream);

/* For the loop's thread. */
enum stream_state {
    STREAM_READ,  /* *length bytes were copied */
    STREAM_EMPTY, /* nothing is waiting now */
    STREAM_ENDED, /* and nothing will come */
    STREAM_CUT,   /* frames were lost */
};
enum stream_state stream_read(struct stream *stream, char *out, size_t size, size_t *length);
/* Bytes read so far: while this stands still though something waits, the client does not read. */
size_t stream_bytes_read(struct stream *stream);
void stream_close(struct stream *stream); /* the connection is over */
