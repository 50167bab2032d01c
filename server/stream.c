#include "server/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "server/http_loop.h"

#define EVENT "event: message\ndata: "

struct frame {
    struct frame *next;
    size_t length;
    char bytes[];
};

struct stream {
    struct note note; /* first: the note is the stream */
    atomic_int references;
    struct http_loop *loop;
    void (*wake)(void *owner); /* this and `owner`: the loop's thread alone */
    void *owner;

    pthread_mutex_t lock; /* over the rest */
    struct frame *first, **end;
    size_t frames, bytes;
    size_t offset; /* into the first frame */
    size_t bytes_read;
    char *farewell;
    bool ended, cut, closed;
};

static void deliver(struct note *note)
{
    struct stream *stream = (struct stream *)note;

    if (stream->owner != NULL)
        stream->wake(stream->owner);
    stream_release(stream);
}

struct stream *stream_create(struct http_loop *loop, void (*wake)(void *owner), void *owner)
{
    struct stream *stream = memory_zeroed(1, sizeof *stream);

    stream->note.deliver = deliver;
    atomic_init(&stream->references, 1);
    stream->loop = loop;
    stream->wake = wake;
    stream->owner = owner;
    pthread_mutex_init(&stream->lock, NULL);
    stream->end = &stream->first;
    return stream;
}

struct stream *stream_retain(struct stream *stream)
{
    atomic_fetch_add(&stream->references, 1);
    return stream;
}

static void drop_frames(struct stream *stream)
{
    while (stream->first != NULL) {
        struct frame *frame = stream->first;

        stream->first = frame->next;
        free(frame);
    }
    stream->end = &stream->first;
    stream->frames = stream->bytes = stream->offset = 0;
}

void stream_release(struct stream *stream)
{
    if (stream == NULL || atomic_fetch_sub(&stream->references, 1) > 1)
        return;
    drop_frames(stream);
    free(stream->farewell);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

static void post(struct stream *stream)
{
    stream_retain(stream);
    if (!http_loop_post(stream->loop, &stream->note))
        atomic_fetch_sub(&stream->references, 1); /* never the last: the caller has one */
}

/* Under the lock. */
static bool append(struct stream *stream, struct frame *frame)
{
    if (stream->ended || stream->cut || stream->closed)
        return false;
    if (stream->frames == STREAM_FRAMES_LIMIT
        || stream->bytes + frame->length > STREAM_BYTES_LIMIT) {
        stream->cut = true;
        drop_frames(stream);
        return false;
    }
    *stream->end = frame;
    stream->end = &frame->next;
    stream->frames++;
    stream->bytes += frame->length;
    return true;
}

static bool push_take(struct stream *stream, struct frame *frame, size_t frames_limit)
{
    bool fits;

    pthread_mutex_lock(&stream->lock);
    fits = stream->frames <= frames_limit && append(stream, frame);
    pthread_mutex_unlock(&stream->lock);
    if (!fits)
        free(frame);
    post(stream);
    return fits;
}

static struct frame *frame_create(const char *before, const char *bytes, size_t length)
{
    static const char after[] = "\n\n";
    size_t before_length = strlen(before);
    size_t total = before_length + length + sizeof after - 1;
    struct frame *frame = memory_zeroed(1, sizeof *frame + total);

    frame->length = total;
    memcpy(frame->bytes, before, before_length);
    memcpy(frame->bytes + before_length, bytes, length);
    memcpy(frame->bytes + before_length + length, after, sizeof after - 1);
    return frame;
}

bool stream_push(struct stream *stream, const char *json, size_t length)
{
    return push_take(stream, frame_create(EVENT, json, length), STREAM_FRAMES_LIMIT);
}

bool stream_has_room(struct stream *stream)
{
    bool room;

    pthread_mutex_lock(&stream->lock);
    room = stream->frames < STREAM_FRAMES_LIMIT / 2;
    pthread_mutex_unlock(&stream->lock);
    return room;
}

void stream_push_comment(struct stream *stream)
{
    push_take(stream, frame_create(":", "", 0), 0);
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
    pthread_mutex_unlock(&stream->lock);
    post(stream);
}

bool stream_is_open(struct stream *stream)
{
    bool open;

    pthread_mutex_lock(&stream->lock);
    open = !stream->ended && !stream->cut && !stream->closed;
    pthread_mutex_unlock(&stream->lock);
    return open;
}

/* Under the lock: as much of the waiting frames as fits. */
static size_t take_bytes(struct stream *stream, char *out, size_t size)
{
    size_t taken = 0;

    while (stream->first != NULL && taken < size) {
        struct frame *frame = stream->first;
        size_t left = frame->length - stream->offset;
        size_t part = left < size - taken ? left : size - taken;

        memcpy(out + taken, frame->bytes + stream->offset, part);
        taken += part;
        stream->offset += part;
        if (part < left)
            break;
        stream->first = frame->next;
        stream->offset = 0;
        stream->frames--;
        stream->bytes -= frame->length;
        free(frame);
    }
    if (stream->first == NULL)
        stream->end = &stream->first;
    stream->bytes_read += taken;
    return taken;
}

enum stream_state stream_read(struct stream *stream, char *out, size_t size, size_t *length)
{
    enum stream_state state = STREAM_READ;

    pthread_mutex_lock(&stream->lock);
    if (stream->cut)
        state = STREAM_CUT;
    else if (stream->first != NULL)
        *length = take_bytes(stream, out, size);
    else
        state = stream->ended ? STREAM_ENDED : STREAM_EMPTY;
    pthread_mutex_unlock(&stream->lock);
    return state;
}

size_t stream_bytes_read(struct stream *stream)
{
    size_t bytes;

    pthread_mutex_lock(&stream->lock);
    bytes = stream->bytes_read;
    pthread_mutex_unlock(&stream->lock);
    return bytes;
}

void stream_close(struct stream *stream)
{
    stream->owner = NULL;
    pthread_mutex_lock(&stream->lock);
    stream->closed = true;
    drop_frames(stream);
    pthread_mutex_unlock(&stream->lock);
}
