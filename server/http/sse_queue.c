/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/sse_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "server/http/http_loop.h"

struct frame {
    struct frame *next;
    int64_t sequence;
    size_t length;
    char bytes[];
};

struct sse_queue {
    struct note note; /* the first member, so that a note can be cast to its queue */
    atomic_int references;
    struct http_loop *loop;
    void (*wake)(void *owner); /* like `owner`, only used on the loop's thread */
    void *owner;

    pthread_mutex_t lock; /* protects the members below */
    struct frame *first, **end;
    size_t frames, bytes;
    size_t offset; /* bytes of the first frame that have been read */
    size_t bytes_read;
    int64_t sequence; /* of the newest event that was read completely; 0: none */
    bool begun;       /* the answer is a stream now: see sse_queue_begin */
    bool ended, cut, closed;
};

static void deliver(struct note *note)
{
    struct sse_queue *sse_queue = (struct sse_queue *)note;

    if (sse_queue->owner != NULL)
        sse_queue->wake(sse_queue->owner);
    sse_queue_release(sse_queue);
}

struct sse_queue *sse_queue_create(struct http_loop *loop, void (*wake)(void *owner), void *owner)
{
    struct sse_queue *sse_queue = memory_zeroed(1, sizeof *sse_queue);

    sse_queue->note.deliver = deliver;
    atomic_init(&sse_queue->references, 1);
    sse_queue->loop = loop;
    sse_queue->wake = wake;
    sse_queue->owner = owner;
    pthread_mutex_init(&sse_queue->lock, NULL);
    sse_queue->end = &sse_queue->first;
    return sse_queue;
}

struct sse_queue *sse_queue_retain(struct sse_queue *sse_queue)
{
    atomic_fetch_add(&sse_queue->references, 1);
    return sse_queue;
}

static void drop_frames(struct sse_queue *sse_queue)
{
    while (sse_queue->first != NULL) {
        struct frame *frame = sse_queue->first;

        sse_queue->first = frame->next;
        free(frame);
    }
    sse_queue->end = &sse_queue->first;
    sse_queue->frames = sse_queue->bytes = sse_queue->offset = 0;
}

void sse_queue_release(struct sse_queue *sse_queue)
{
    if (sse_queue == NULL || atomic_fetch_sub(&sse_queue->references, 1) > 1)
        return;
    drop_frames(sse_queue);
    pthread_mutex_destroy(&sse_queue->lock);
    free(sse_queue);
}

static void post(struct sse_queue *sse_queue)
{
    sse_queue_retain(sse_queue);
    if (!http_loop_post(sse_queue->loop, &sse_queue->note)) {
        /* never the last reference: the caller has one */
        atomic_fetch_sub(&sse_queue->references, 1);
    }
}

/* The lock must be held. */
static bool append(struct sse_queue *sse_queue, struct frame *frame)
{
    if (sse_queue->ended || sse_queue->cut || sse_queue->closed)
        return false;
    if (sse_queue->frames == SSE_QUEUE_FRAMES_LIMIT
        || sse_queue->bytes + frame->length > SSE_QUEUE_BYTES_LIMIT) {
        sse_queue->cut = true;
        drop_frames(sse_queue);
        return false;
    }
    sse_queue->begun = true;
    *sse_queue->end = frame;
    sse_queue->end = &frame->next;
    sse_queue->frames++;
    sse_queue->bytes += frame->length;
    return true;
}

/* Takes over the frame. False: the queue had more than `frames_limit` frames, or refused the
 * frame. */
static bool put_take(struct sse_queue *sse_queue, struct frame *frame, size_t frames_limit)
{
    bool fits;

    pthread_mutex_lock(&sse_queue->lock);
    fits = sse_queue->frames <= frames_limit && append(sse_queue, frame);
    pthread_mutex_unlock(&sse_queue->lock);
    if (!fits)
        free(frame);
    post(sse_queue);
    return fits;
}

static struct frame *frame_create(const char *head, const char *bytes, size_t length)
{
    static const char after[] = "\n\n";
    size_t head_length = strlen(head);
    size_t total = head_length + length + sizeof after - 1;
    struct frame *frame = memory_zeroed(1, sizeof *frame + total);

    frame->length = total;
    memcpy(frame->bytes, head, head_length);
    memcpy(frame->bytes + head_length, bytes, length);
    memcpy(frame->bytes + head_length + length, after, sizeof after - 1);
    return frame;
}

bool sse_queue_put(struct sse_queue *sse_queue, int64_t sequence, const char *head,
                   const char *json, size_t length)
{
    TEXT_AUTO before = { 0 };
    struct frame *frame;

    text_addf(&before, "%sdata: ", head);
    frame = frame_create(text_string(&before), json, length);
    frame->sequence = sequence;
    return put_take(sse_queue, frame, SSE_QUEUE_FRAMES_LIMIT);
}

bool sse_queue_has_room(struct sse_queue *sse_queue)
{
    bool room;

    pthread_mutex_lock(&sse_queue->lock);
    room = sse_queue->frames < SSE_QUEUE_FRAMES_LIMIT / 2;
    pthread_mutex_unlock(&sse_queue->lock);
    return room;
}

void sse_queue_put_comment(struct sse_queue *sse_queue)
{
    put_take(sse_queue, frame_create(":", "", 0), 0);
}

void sse_queue_end(struct sse_queue *sse_queue)
{
    pthread_mutex_lock(&sse_queue->lock);
    sse_queue->ended = true;
    sse_queue->begun |= !sse_queue->closed;
    pthread_mutex_unlock(&sse_queue->lock);
    post(sse_queue);
}

void sse_queue_begin(struct sse_queue *sse_queue)
{
    pthread_mutex_lock(&sse_queue->lock);
    sse_queue->begun = true;
    pthread_mutex_unlock(&sse_queue->lock);
}

bool sse_queue_is_begun(struct sse_queue *sse_queue)
{
    bool begun;

    pthread_mutex_lock(&sse_queue->lock);
    begun = sse_queue->begun;
    pthread_mutex_unlock(&sse_queue->lock);
    return begun;
}

bool sse_queue_withdraw(struct sse_queue *sse_queue)
{
    bool unused;

    pthread_mutex_lock(&sse_queue->lock);
    unused = !sse_queue->begun;
    sse_queue->closed |= unused;
    pthread_mutex_unlock(&sse_queue->lock);
    return unused;
}

void sse_queue_supersede(struct sse_queue *sse_queue)
{
    pthread_mutex_lock(&sse_queue->lock);
    sse_queue->ended = sse_queue->begun = true;
    drop_frames(sse_queue);
    pthread_mutex_unlock(&sse_queue->lock);
    post(sse_queue);
}

bool sse_queue_is_open(struct sse_queue *sse_queue)
{
    bool open;

    pthread_mutex_lock(&sse_queue->lock);
    open = !sse_queue->ended && !sse_queue->cut && !sse_queue->closed;
    pthread_mutex_unlock(&sse_queue->lock);
    return open;
}

/* Moves as much of the waiting frames to `out` as fits. The lock must be held. */
static size_t read_frames(struct sse_queue *sse_queue, char *out, size_t size)
{
    size_t taken = 0;

    while (sse_queue->first != NULL && taken < size) {
        struct frame *frame = sse_queue->first;
        size_t left = frame->length - sse_queue->offset;
        size_t part = left < size - taken ? left : size - taken;

        memcpy(out + taken, frame->bytes + sse_queue->offset, part);
        taken += part;
        sse_queue->offset += part;
        if (part < left)
            break;
        sse_queue->first = frame->next;
        sse_queue->offset = 0;
        sse_queue->frames--;
        sse_queue->bytes -= frame->length;
        if (frame->sequence != 0)
            sse_queue->sequence = frame->sequence;
        free(frame);
    }
    if (sse_queue->first == NULL)
        sse_queue->end = &sse_queue->first;
    sse_queue->bytes_read += taken;
    return taken;
}

enum sse_queue_state sse_queue_read(struct sse_queue *sse_queue, char *out, size_t size,
                                    size_t *length)
{
    enum sse_queue_state state = SSE_QUEUE_READ;

    pthread_mutex_lock(&sse_queue->lock);
    if (sse_queue->cut)
        state = SSE_QUEUE_CUT;
    else if (sse_queue->first != NULL)
        *length = read_frames(sse_queue, out, size);
    else
        state = sse_queue->ended ? SSE_QUEUE_ENDED : SSE_QUEUE_EMPTY;
    pthread_mutex_unlock(&sse_queue->lock);
    return state;
}

size_t sse_queue_bytes_read(struct sse_queue *sse_queue)
{
    size_t bytes;

    pthread_mutex_lock(&sse_queue->lock);
    bytes = sse_queue->bytes_read;
    pthread_mutex_unlock(&sse_queue->lock);
    return bytes;
}

int64_t sse_queue_sequence(struct sse_queue *sse_queue)
{
    int64_t sequence;

    pthread_mutex_lock(&sse_queue->lock);
    sequence = sse_queue->sequence;
    pthread_mutex_unlock(&sse_queue->lock);
    return sequence;
}

void sse_queue_close(struct sse_queue *sse_queue)
{
    sse_queue->owner = NULL;
    pthread_mutex_lock(&sse_queue->lock);
    sse_queue->closed = true;
    drop_frames(sse_queue);
    pthread_mutex_unlock(&sse_queue->lock);
}
