/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/rate_limit.h"
#include "base/core/text.h"
#include "server/http/sse_queue.h"
#include "store/ledger/events.h"

#define EVENT "event: message\n"
#define HEAD_SIZE 128
#define REPLAYS_LIMIT 100 /* replays per resume: each sends what arrived during the one before */

_Static_assert(SSE_QUEUE_FRAMES_LIMIT >= 2 * EVENTS_PER_STREAM, "a replay must not fill the queue");

struct stream {
    atomic_int references;
    struct store *store; /* NULL: the stream is not stored */
    char id[STREAM_ID_SIZE];
    char key[EVENT_STREAM_KEY_SIZE]; /* the key of its events in the store */
    struct rate_limit *bytes;        /* limits the stored bytes; NULL: no limit */
    char principal[RATE_LIMIT_NAME_SIZE];

    pthread_mutex_t lock;        /* protects the members below */
    struct sse_queue *sse_queue; /* queue of the connection; NULL: no connection yet */
    int64_t sequence;            /* number of the newest event */
    int64_t received; /* number of the newest event that an earlier connection received */
    char *closing_message;
    bool primed, ended;
};

struct stream *stream_create(struct sse_queue *sse_queue)
{
    struct stream *stream = memory_zeroed(1, sizeof *stream);

    atomic_init(&stream->references, 1);
    pthread_mutex_init(&stream->lock, NULL);
    if (sse_queue != NULL)
        stream->sse_queue = sse_queue_retain(sse_queue);
    return stream;
}

struct stream *stream_retain(struct stream *stream)
{
    atomic_fetch_add(&stream->references, 1);
    return stream;
}

void stream_release(struct stream *stream)
{
    if (stream == NULL || atomic_fetch_sub(&stream->references, 1) > 1)
        return;
    sse_queue_release(stream->sse_queue);
    free(stream->closing_message);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

void stream_keep(struct stream *stream, struct store *store, const char *session, const char *id,
                 int64_t sequence)
{
    stream->store = store;
    stream->sequence = stream->received = sequence;
    text_copy(stream->id, sizeof stream->id, id);
    event_stream_key(session, id, stream->key);
}

void stream_limit(struct stream *stream, struct rate_limit *bytes, const char *principal)
{
    stream->bytes = bytes;
    text_copy(stream->principal, sizeof stream->principal, principal);
}

const char *stream_id(const struct stream *stream)
{
    return stream->id;
}

/* ---- Events ---- */

static bool may_store(const struct stream *stream, size_t length)
{
    int64_t ignored_ms;

    return stream->bytes == NULL
           || rate_limit_spend_many(stream->bytes, stream->principal, (int64_t)length,
                                    clock_monotonic_ns(), &ignored_ms);
}

/* Stores `json` as the newest event, or `otherwise` (NULL: nothing) if the limit does not allow
 * `json`. If storing fails, only a client that resumes the stream misses the event. The lock must
 * be held. */
static void store_event(struct stream *stream, const char *json, size_t length,
                        const char *otherwise)
{
    struct error error;

    if (!may_store(stream, length))
        json = otherwise;
    if (json != NULL
        && !event_add(stream->store, stream->key, stream->sequence, json, clock_utc_ms(), &error))
        log_warning("an event of stream %s is not stored: %s", stream->key, error.message);
}

/* The lock must be held. */
static bool put(struct stream *stream, const char *head, const char *json, size_t length)
{
    return stream->sse_queue != NULL
           && sse_queue_put(stream->sse_queue, stream->sequence, head, json, length);
}

/* Writes the lines that come before an event's data. */
static void write_head(const struct stream *stream, int64_t sequence, char out[HEAD_SIZE])
{
    snprintf(out, HEAD_SIZE, "id: %s_%lld\n" EVENT, stream->id, (long long)sequence);
}

/* The lock must be held. */
static bool push(struct stream *stream, const char *json, size_t length, const char *otherwise)
{
    char head[HEAD_SIZE];

    if (stream->store == NULL)
        return put(stream, EVENT, json, length);
    stream->sequence++;
    store_event(stream, json, length, otherwise);
    write_head(stream, stream->sequence, head);
    put(stream, head, json, length);
    return true;
}

bool stream_push(struct stream *stream, const char *json, size_t length)
{
    return stream_push_answer(stream, json, length, NULL);
}

bool stream_push_answer(struct stream *stream, const char *json, size_t length,
                        const char *otherwise)
{
    bool pushed;

    pthread_mutex_lock(&stream->lock);
    pushed = !stream->ended && push(stream, json, length, otherwise);
    pthread_mutex_unlock(&stream->lock);
    return pushed;
}

bool stream_has_room(struct stream *stream)
{
    bool room;

    pthread_mutex_lock(&stream->lock);
    room = stream->sse_queue == NULL || sse_queue_has_room(stream->sse_queue);
    pthread_mutex_unlock(&stream->lock);
    return room;
}

void stream_prime(struct stream *stream)
{
    char head[HEAD_SIZE];

    pthread_mutex_lock(&stream->lock);
    stream->primed = true;
    stream->sequence++;
    snprintf(head, sizeof head, "id: %s_%lld\nretry: %d\n", stream->id, (long long)stream->sequence,
             STREAM_RETRY_MS);
    put(stream, head, "", 0);
    pthread_mutex_unlock(&stream->lock);
}

/* ---- Connections ---- */

/* The lock must be held. */
static int64_t received(const struct stream *stream)
{
    int64_t read = stream->sse_queue != NULL ? sse_queue_sequence(stream->sse_queue) : 0;

    return read > stream->received ? read : stream->received;
}

/* The lock must be held. */
static void replace_queue(struct stream *stream, struct sse_queue *sse_queue)
{
    if (stream->sse_queue != NULL)
        sse_queue_supersede(stream->sse_queue);
    stream->received = received(stream);
    sse_queue_release(stream->sse_queue);
    stream->sse_queue = sse_queue_retain(sse_queue);
}

bool stream_attach(struct stream *stream, int64_t last, struct sse_queue *sse_queue)
{
    bool complete;

    pthread_mutex_lock(&stream->lock);
    complete = stream->sequence == last;
    if (complete)
        replace_queue(stream, sse_queue);
    if (complete && stream->ended)
        sse_queue_end(sse_queue);
    pthread_mutex_unlock(&stream->lock);
    return complete;
}

/* Sends the stored events from `after` + 1 to `last`. The lock must not be held, because this waits
 * for the store. */
static CHECKED bool replay(struct stream *stream, int64_t after, int64_t last,
                           struct sse_queue *sse_queue, struct error *error)
{
    struct event_row *rows;
    size_t count;

    if (!event_list(stream->store, stream->key, after, EVENTS_PER_STREAM, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count && rows[i].sequence <= last; i++) {
        char head[HEAD_SIZE];

        write_head(stream, rows[i].sequence, head);
        sse_queue_put(sse_queue, rows[i].sequence, head, rows[i].frame, strlen(rows[i].frame));
    }
    event_rows_free(rows, count);
    return true;
}

bool stream_resume(struct stream *stream, int64_t after, struct sse_queue *sse_queue,
                   struct error *error)
{
    if (after > stream_sequence(stream))
        return error_set(error, ERROR_NOT_FOUND, "there is no event %s_%lld", stream->id,
                         (long long)after);
    for (int tries = 0; tries < REPLAYS_LIMIT; tries++) {
        int64_t last = stream_sequence(stream);

        if (!replay(stream, after, last, sse_queue, error))
            return false;
        if (stream_attach(stream, last, sse_queue))
            return true;
        after = last;
    }
    return error_set(error, ERROR_BUSY, "stream %s is too busy to be resumed: try again",
                     stream->id);
}

int64_t stream_sequence(struct stream *stream)
{
    int64_t sequence;

    pthread_mutex_lock(&stream->lock);
    sequence = stream->sequence;
    pthread_mutex_unlock(&stream->lock);
    return sequence;
}

int64_t stream_received(struct stream *stream)
{
    int64_t sequence;

    pthread_mutex_lock(&stream->lock);
    sequence = received(stream);
    pthread_mutex_unlock(&stream->lock);
    return sequence;
}

void stream_set_received(struct stream *stream, int64_t sequence)
{
    pthread_mutex_lock(&stream->lock);
    stream->received = sequence;
    pthread_mutex_unlock(&stream->lock);
}

bool stream_is_read(struct stream *stream)
{
    bool read;

    pthread_mutex_lock(&stream->lock);
    read = !stream->ended && stream->sse_queue != NULL && sse_queue_is_open(stream->sse_queue);
    pthread_mutex_unlock(&stream->lock);
    return read;
}

void stream_hang_up(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->primed && stream->sse_queue != NULL)
        sse_queue_end(stream->sse_queue);
    pthread_mutex_unlock(&stream->lock);
}

/* ---- The end of a stream ---- */

void stream_set_closing_message_take(struct stream *stream, char *json)
{
    pthread_mutex_lock(&stream->lock);
    free(stream->closing_message);
    stream->closing_message = json;
    pthread_mutex_unlock(&stream->lock);
}

void stream_send_closing_message(struct stream *stream)
{
    char *closing_message;

    pthread_mutex_lock(&stream->lock);
    closing_message = stream->closing_message;
    stream->closing_message = NULL;
    pthread_mutex_unlock(&stream->lock);
    if (closing_message != NULL)
        stream_push(stream, closing_message, strlen(closing_message));
    free(closing_message);
    stream_end(stream);
}

void stream_end(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    if (stream->sse_queue != NULL)
        sse_queue_end(stream->sse_queue);
    pthread_mutex_unlock(&stream->lock);
}

bool stream_is_open(struct stream *stream)
{
    bool open;

    pthread_mutex_lock(&stream->lock);
    open = !stream->ended
           && (stream->store != NULL
               || (stream->sse_queue != NULL && sse_queue_is_open(stream->sse_queue)));
    pthread_mutex_unlock(&stream->lock);
    return open;
}
