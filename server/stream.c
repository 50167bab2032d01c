#include "server/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "server/outlet.h"
#include "store/events.h"

#define EVENT "event: message\n"
#define HEAD_SIZE 128

struct stream {
    atomic_int references;
    struct store *store; /* NULL: not kept */
    char id[STREAM_ID_SIZE];
    char key[EVENT_STREAM_SIZE]; /* in the store */

    pthread_mutex_t lock;  /* over the rest */
    struct outlet *outlet; /* NULL: none yet */
    int64_t sequence;      /* of the newest event */
    char *farewell;
    bool primed, ended;
};

struct stream *stream_create(struct outlet *outlet)
{
    struct stream *stream = memory_zeroed(1, sizeof *stream);

    atomic_init(&stream->references, 1);
    pthread_mutex_init(&stream->lock, NULL);
    if (outlet != NULL)
        stream->outlet = outlet_retain(outlet);
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
    outlet_release(stream->outlet);
    free(stream->farewell);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

void stream_keep(struct stream *stream, struct store *store, const char *session, const char *id,
                 int64_t sequence)
{
    stream->store = store;
    stream->sequence = sequence;
    text_copy(stream->id, sizeof stream->id, id);
    event_stream(session, id, stream->key);
}

const char *stream_id(const struct stream *stream)
{
    return stream->id;
}

/* ---- Events ---- */

/* Under the lock. A frame that is not stored is only missed by a client that resumes. */
static void keep(struct stream *stream, const char *json)
{
    struct error error;

    if (!event_add(stream->store, stream->key, stream->sequence, json, clock_utc_ms(), &error))
        log_warning("an event of stream %s is not kept: %s", stream->key, error.message);
}

/* Under the lock. */
static bool put(struct stream *stream, const char *head, const char *json, size_t length)
{
    return stream->outlet != NULL
           && outlet_put(stream->outlet, stream->sequence, head, json, length);
}

/* The lines before an event's data. */
static void write_head(const struct stream *stream, char out[HEAD_SIZE])
{
    snprintf(out, HEAD_SIZE, "id: %s_%lld\n" EVENT, stream->id, (long long)stream->sequence);
}

/* Under the lock. */
static bool push(struct stream *stream, const char *json, size_t length)
{
    char head[HEAD_SIZE];

    if (stream->store == NULL)
        return put(stream, EVENT, json, length);
    stream->sequence++;
    keep(stream, json);
    write_head(stream, head);
    put(stream, head, json, length);
    return true;
}

bool stream_push(struct stream *stream, const char *json, size_t length)
{
    bool pushed;

    pthread_mutex_lock(&stream->lock);
    pushed = !stream->ended && push(stream, json, length);
    pthread_mutex_unlock(&stream->lock);
    return pushed;
}

bool stream_has_room(struct stream *stream)
{
    bool room;

    pthread_mutex_lock(&stream->lock);
    room = stream->outlet == NULL || outlet_has_room(stream->outlet);
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

/* ---- Ends ---- */

bool stream_attach(struct stream *stream, struct outlet *outlet)
{
    struct outlet *old = NULL;
    bool open;

    pthread_mutex_lock(&stream->lock);
    open = !stream->ended;
    if (open) {
        old = stream->outlet;
        stream->outlet = outlet_retain(outlet);
    }
    pthread_mutex_unlock(&stream->lock);
    if (old != NULL)
        outlet_end(old);
    outlet_release(old);
    return open;
}

bool stream_is_read(struct stream *stream)
{
    bool read;

    pthread_mutex_lock(&stream->lock);
    read = !stream->ended && stream->outlet != NULL && outlet_is_open(stream->outlet);
    pthread_mutex_unlock(&stream->lock);
    return read;
}

void stream_hang_up(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->primed && stream->outlet != NULL)
        outlet_end(stream->outlet);
    pthread_mutex_unlock(&stream->lock);
}

void stream_set_farewell_take(struct stream *stream, char *json)
{
    pthread_mutex_lock(&stream->lock);
    free(stream->farewell);
    stream->farewell = json;
    pthread_mutex_unlock(&stream->lock);
}

void stream_say_farewell(struct stream *stream)
{
    char *farewell;

    pthread_mutex_lock(&stream->lock);
    farewell = stream->farewell;
    stream->farewell = NULL;
    pthread_mutex_unlock(&stream->lock);
    if (farewell != NULL)
        stream_push(stream, farewell, strlen(farewell));
    free(farewell);
    stream_end(stream);
}

void stream_end(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    if (stream->outlet != NULL)
        outlet_end(stream->outlet);
    pthread_mutex_unlock(&stream->lock);
}

bool stream_is_open(struct stream *stream)
{
    bool open;

    pthread_mutex_lock(&stream->lock);
    open = !stream->ended
           && (stream->store != NULL || (stream->outlet != NULL && outlet_is_open(stream->outlet)));
    pthread_mutex_unlock(&stream->lock);
    return open;
}
