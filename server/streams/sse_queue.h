/* What waits to be sent on one client's connection: a bounded line of server-sent events. Any
 * thread puts; the loop's thread reads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_loop;
struct outlet;

/* What is kept of a stream may be sent again at once, and as much be told meanwhile. */
#define OUTLET_FRAMES_LIMIT 512
#define OUTLET_BYTES_LIMIT ((size_t)16 << 20)

/* `wake(owner)` is called on the loop's thread after something was put, until outlet_close.
 * Starts with one reference. */
struct outlet *outlet_create(struct http_loop *loop, void (*wake)(void *owner), void *owner);
struct outlet *outlet_retain(struct outlet *outlet);
void outlet_release(struct outlet *outlet); /* NULL is fine */

/* An event with the lines `head` ("" or each with its end) and one JSON message as its data.
 * `sequence`: the event's number in its stream, ascending; 0: it has none. False if the client
 * left, the outlet ended, or the line is full: then it is cut, since a client that lost a frame
 * must not believe it saw all. */
bool outlet_put(struct outlet *outlet, int64_t sequence, const char *head, const char *json,
                size_t length);
/* Is the line less than half full? What may be left out, as progress may, is put only then. */
bool outlet_has_room(struct outlet *outlet);
/* A comment, which keeps proxies from closing an idle connection; only where nothing waits. */
void outlet_put_comment(struct outlet *outlet);
void outlet_end(struct outlet *outlet); /* after what is waiting */
/* Ends it at once: what waits is dropped, since another outlet takes its place. */
void outlet_supersede(struct outlet *outlet);
bool outlet_is_open(struct outlet *outlet);
/* An outlet begins when something is put or it ends; or now. Until then the answer may still be
 * another than events. */
void outlet_begin(struct outlet *outlet);
bool outlet_is_begun(struct outlet *outlet);
/* Takes it back where it has not begun: nothing can be put any more. False: it has. */
bool outlet_withdraw(struct outlet *outlet);

/* For the loop's thread. */
enum outlet_state {
    OUTLET_READ,  /* *length bytes were copied */
    OUTLET_EMPTY, /* nothing is waiting now */
    OUTLET_ENDED, /* and nothing will come */
    OUTLET_CUT,   /* frames were lost */
};
enum outlet_state outlet_read(struct outlet *outlet, char *out, size_t size, size_t *length);
/* Bytes read so far: while this stands still though something waits, the client does not read. */
size_t outlet_bytes_read(struct outlet *outlet);
void outlet_close(struct outlet *outlet); /* the connection is over */

/* The number of the newest event that was read whole; 0: none was. Any thread. */
int64_t outlet_sequence(struct outlet *outlet);
