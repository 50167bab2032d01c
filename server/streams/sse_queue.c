#include "server/streams/sse_queue.h"

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

struct outlet {
    struct note note; /* first: the note is the outlet */
    atomic_int references;
    struct http_loop *loop;
    void (*wake)(void *owner); /* this and `owner`: the loop's thread alone */
    void *owner;

    pthread_mutex_t lock; /* over the rest */
    struct frame *first, **end;
    size_t frames, bytes;
    size_t offset; /* into the first frame */
    size_t bytes_read;
    int64_t sequence; /* of the newest event that was read whole */
    bool begun;       /* something was put, or it ended: there is an answer to send */
    bool ended, cut, closed;
};

static void deliver(struct note *note)
{
    struct outlet *outlet = (struct outlet *)note;

    if (outlet->owner != NULL)
        outlet->wake(outlet->owner);
    outlet_release(outlet);
}

struct outlet *outlet_create(struct http_loop *loop, void (*wake)(void *owner), void *owner)
{
    struct outlet *outlet = memory_zeroed(1, sizeof *outlet);

    outlet->note.deliver = deliver;
    atomic_init(&outlet->references, 1);
    outlet->loop = loop;
    outlet->wake = wake;
    outlet->owner = owner;
    pthread_mutex_init(&outlet->lock, NULL);
    outlet->end = &outlet->first;
    return outlet;
}

struct outlet *outlet_retain(struct outlet *outlet)
{
    atomic_fetch_add(&outlet->references, 1);
    return outlet;
}

static void drop_frames(struct outlet *outlet)
{
    while (outlet->first != NULL) {
        struct frame *frame = outlet->first;

        outlet->first = frame->next;
        free(frame);
    }
    outlet->end = &outlet->first;
    outlet->frames = outlet->bytes = outlet->offset = 0;
}

void outlet_release(struct outlet *outlet)
{
    if (outlet == NULL || atomic_fetch_sub(&outlet->references, 1) > 1)
        return;
    drop_frames(outlet);
    pthread_mutex_destroy(&outlet->lock);
    free(outlet);
}

static void post(struct outlet *outlet)
{
    outlet_retain(outlet);
    if (!http_loop_post(outlet->loop, &outlet->note))
        atomic_fetch_sub(&outlet->references, 1); /* never the last: the caller has one */
}

/* Under the lock. */
static bool append(struct outlet *outlet, struct frame *frame)
{
    if (outlet->ended || outlet->cut || outlet->closed)
        return false;
    if (outlet->frames == OUTLET_FRAMES_LIMIT
        || outlet->bytes + frame->length > OUTLET_BYTES_LIMIT) {
        outlet->cut = true;
        drop_frames(outlet);
        return false;
    }
    outlet->begun = true;
    *outlet->end = frame;
    outlet->end = &frame->next;
    outlet->frames++;
    outlet->bytes += frame->length;
    return true;
}

static bool put_take(struct outlet *outlet, struct frame *frame, size_t frames_limit)
{
    bool fits;

    pthread_mutex_lock(&outlet->lock);
    fits = outlet->frames <= frames_limit && append(outlet, frame);
    pthread_mutex_unlock(&outlet->lock);
    if (!fits)
        free(frame);
    post(outlet);
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

bool outlet_put(struct outlet *outlet, int64_t sequence, const char *head, const char *json,
                size_t length)
{
    TEXT_AUTO before = { 0 };
    struct frame *frame;

    text_addf(&before, "%sdata: ", head);
    frame = frame_create(text_string(&before), json, length);
    frame->sequence = sequence;
    return put_take(outlet, frame, OUTLET_FRAMES_LIMIT);
}

bool outlet_has_room(struct outlet *outlet)
{
    bool room;

    pthread_mutex_lock(&outlet->lock);
    room = outlet->frames < OUTLET_FRAMES_LIMIT / 2;
    pthread_mutex_unlock(&outlet->lock);
    return room;
}

void outlet_put_comment(struct outlet *outlet)
{
    put_take(outlet, frame_create(":", "", 0), 0);
}

void outlet_end(struct outlet *outlet)
{
    pthread_mutex_lock(&outlet->lock);
    outlet->ended = true;
    outlet->begun |= !outlet->closed;
    pthread_mutex_unlock(&outlet->lock);
    post(outlet);
}

void outlet_begin(struct outlet *outlet)
{
    pthread_mutex_lock(&outlet->lock);
    outlet->begun = true;
    pthread_mutex_unlock(&outlet->lock);
}

bool outlet_is_begun(struct outlet *outlet)
{
    bool begun;

    pthread_mutex_lock(&outlet->lock);
    begun = outlet->begun;
    pthread_mutex_unlock(&outlet->lock);
    return begun;
}

bool outlet_withdraw(struct outlet *outlet)
{
    bool unused;

    pthread_mutex_lock(&outlet->lock);
    unused = !outlet->begun;
    outlet->closed |= unused;
    pthread_mutex_unlock(&outlet->lock);
    return unused;
}

void outlet_supersede(struct outlet *outlet)
{
    pthread_mutex_lock(&outlet->lock);
    outlet->ended = outlet->begun = true;
    drop_frames(outlet);
    pthread_mutex_unlock(&outlet->lock);
    post(outlet);
}

bool outlet_is_open(struct outlet *outlet)
{
    bool open;

    pthread_mutex_lock(&outlet->lock);
    open = !outlet->ended && !outlet->cut && !outlet->closed;
    pthread_mutex_unlock(&outlet->lock);
    return open;
}

/* Under the lock: as much of the waiting frames as fits. */
static size_t take_bytes(struct outlet *outlet, char *out, size_t size)
{
    size_t taken = 0;

    while (outlet->first != NULL && taken < size) {
        struct frame *frame = outlet->first;
        size_t left = frame->length - outlet->offset;
        size_t part = left < size - taken ? left : size - taken;

        memcpy(out + taken, frame->bytes + outlet->offset, part);
        taken += part;
        outlet->offset += part;
        if (part < left)
            break;
        outlet->first = frame->next;
        outlet->offset = 0;
        outlet->frames--;
        outlet->bytes -= frame->length;
        if (frame->sequence != 0)
            outlet->sequence = frame->sequence;
        free(frame);
    }
    if (outlet->first == NULL)
        outlet->end = &outlet->first;
    outlet->bytes_read += taken;
    return taken;
}

enum outlet_state outlet_read(struct outlet *outlet, char *out, size_t size, size_t *length)
{
    enum outlet_state state = OUTLET_READ;

    pthread_mutex_lock(&outlet->lock);
    if (outlet->cut)
        state = OUTLET_CUT;
    else if (outlet->first != NULL)
        *length = take_bytes(outlet, out, size);
    else
        state = outlet->ended ? OUTLET_ENDED : OUTLET_EMPTY;
    pthread_mutex_unlock(&outlet->lock);
    return state;
}

size_t outlet_bytes_read(struct outlet *outlet)
{
    size_t bytes;

    pthread_mutex_lock(&outlet->lock);
    bytes = outlet->bytes_read;
    pthread_mutex_unlock(&outlet->lock);
    return bytes;
}

int64_t outlet_sequence(struct outlet *outlet)
{
    int64_t sequence;

    pthread_mutex_lock(&outlet->lock);
    sequence = outlet->sequence;
    pthread_mutex_unlock(&outlet->lock);
    return sequence;
}

void outlet_close(struct outlet *outlet)
{
    outlet->owner = NULL;
    pthread_mutex_lock(&outlet->lock);
    outlet->closed = true;
    drop_frames(outlet);
    pthread_mutex_unlock(&outlet->lock);
}
