/* SPDX-License-Identifier: Apache-2.0 */
/* A session's streams, on which messages are sent to its client, and its running calls. */
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "server/http/sse_queue.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"
#include "store/ledger/events.h"

#define WAITING_LIMIT EVENTS_PER_STREAM

bool session_keeps_streams(const struct session *session)
{
    return strcmp(session->version, "2025-03-26") >= 0;
}

/* Clients of older revisions cannot read an event with empty data. */
bool session_primes_streams(const struct session *session)
{
    return strcmp(session->version, "2025-11-25") >= 0;
}

/* ---- The long-lived stream ---- */

static uint64_t digest_of(const char *bytes, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 1099511628211u;
    return hash;
}

/* Records a message's digest, if there is room. Returns false if it was recorded already. Once the
 * message that has waited longest is older than EVENTS_KEPT_MS, it is no longer stored; then all
 * digests are forgotten, so that every message can be sent again. The lock must be held. */
static bool add_waiting(struct session *session, uint64_t digest)
{
    int64_t now_ms = clock_utc_ms();

    if (now_ms - session->waiting_since_ms > EVENTS_KEPT_MS)
        session->waiting_count = 0;
    for (size_t i = 0; i < session->waiting_count; i++)
        if (session->waiting[i] == digest)
            return false;
    if (session->waiting_count == 0)
        session->waiting_since_ms = now_ms;
    if (session->waiting_count == WAITING_LIMIT)
        return true;
    session->waiting =
        memory_resize(session->waiting, session->waiting_count + 1, sizeof *session->waiting);
    session->waiting[session->waiting_count++] = digest;
    return true;
}

void session_notify(struct session *session, const char *json, size_t length)
{
    bool fresh;

    /* Checking and recording happen under the lock that clear_waiting takes, too. Otherwise, a
     * digest might be recorded just after a connection began to read and the digests were cleared;
     * once nobody reads the stream any more, the next identical message would be dropped. */
    pthread_mutex_lock(&session->lock);
    fresh = stream_is_read(session->stream) || add_waiting(session, digest_of(json, length));
    pthread_mutex_unlock(&session->lock);
    if (fresh)
        stream_push(session->stream, json, length);
}

/* Forgets which messages were waiting. */
static void clear_waiting(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    free(session->waiting);
    session->waiting = NULL;
    session->waiting_count = 0;
    pthread_mutex_unlock(&session->lock);
}

bool session_attach(struct session *session, int64_t last, struct sse_queue *sse_queue)
{
    if (!stream_attach(session->stream, last, sse_queue))
        return false;
    clear_waiting(session);
    return true;
}

bool session_resume(struct session *session, int64_t after, struct sse_queue *sse_queue,
                    struct error *error)
{
    if (!stream_resume(session->stream, after, sse_queue, error))
        return false;
    clear_waiting(session);
    return true;
}

void session_note_received(struct session *session, int64_t sequence)
{
    session_set_received(session->store, session->id, sequence);
}

/* ---- Streams of calls ---- */

void session_add_stream(struct session *session, struct stream *stream)
{
    pthread_mutex_lock(&session->lock);
    session->streams =
        memory_resize(session->streams, session->stream_count + 1, sizeof(struct stream *));
    session->streams[session->stream_count++] = stream_retain(stream);
    pthread_mutex_unlock(&session->lock);
}

void session_remove_stream(struct session *session, const struct stream *stream)
{
    struct stream *removed = NULL;

    pthread_mutex_lock(&session->lock);
    for (size_t i = 0; i < session->stream_count; i++)
        if (session->streams[i] == stream) {
            removed = session->streams[i];
            session->streams[i] = session->streams[--session->stream_count];
            break;
        }
    pthread_mutex_unlock(&session->lock);
    stream_release(removed);
}

struct stream *session_find_stream(struct session *session, const char *id)
{
    struct stream *found = NULL;

    pthread_mutex_lock(&session->lock);
    for (size_t i = 0; i < session->stream_count && found == NULL; i++)
        if (strcmp(stream_id(session->streams[i]), id) == 0)
            found = stream_retain(session->streams[i]);
    pthread_mutex_unlock(&session->lock);
    return found;
}

/* ---- Calls ---- */

bool session_is_over(struct session *session)
{
    bool over;

    pthread_mutex_lock(&session->lock);
    over = session->over;
    pthread_mutex_unlock(&session->lock);
    return over;
}

void session_add_call(struct session *session, struct session_call *call)
{
    pthread_mutex_lock(&session->lock);
    call->next = session->running;
    session->running = call;
    pthread_mutex_unlock(&session->lock);
}

void session_remove_call(struct session *session, struct session_call *call)
{
    pthread_mutex_lock(&session->lock);
    for (struct session_call **at = &session->running; *at != NULL; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
    pthread_mutex_unlock(&session->lock);
}

void session_cancel_call(struct session *session, const char *id)
{
    pthread_mutex_lock(&session->lock);
    for (struct session_call *call = session->running; call != NULL; call = call->next)
        if (call->id != NULL && strcmp(call->id, id) == 0)
            atomic_store(&call->cancelled, true);
    pthread_mutex_unlock(&session->lock);
}
