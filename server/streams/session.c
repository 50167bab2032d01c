/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "server/streams/stream.h"
#include "store/audit/audit_log.h"
#include "store/ledger/events.h"
#include "store/ledger/plausible_time.h"

#define BUCKETS 4096
#define AHEAD_MS 60000 /* a session whose last use is further in the future counts as used now */

struct sessions {
    struct store *store;
    struct session_limits limits;
    pthread_mutex_t lock; /* protects the members below, and every session's `next` */
    struct session *buckets[BUCKETS];
    size_t count;
};

/* Returns the bucket for an id. Session ids are random, but a client can send any text as an id, so
 * the id is hashed. */
static struct session **bucket_of(struct sessions *sessions, const char *id)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *id != '\0'; id++)
        hash = (hash ^ (uint8_t)*id) * 16777619u;
    return &sessions->buckets[hash % BUCKETS];
}

static struct session *session_create(struct store *store, const char *id, const char *principal,
                                      const char *version, const char *client,
                                      const char *capabilities)
{
    struct session *session = memory_zeroed(1, sizeof *session);

    session->store = store;
    text_copy(session->id, sizeof session->id, id);
    text_copy(session->principal, sizeof session->principal, principal);
    text_copy(session->client, sizeof session->client, client);
    session->version = version;
    session->capabilities = memory_copy_text(capabilities);
    session->stream = stream_create(NULL);
    pthread_mutex_init(&session->lock, NULL);
    atomic_init(&session->references, 1);
    atomic_init(&session->log_level, (int)SESSION_LOG_LEVEL);
    return session;
}

struct session *session_retain(struct session *session)
{
    atomic_fetch_add(&session->references, 1);
    return session;
}

void session_release(struct session *session)
{
    if (session == NULL || atomic_fetch_sub(&session->references, 1) > 1)
        return;
    stream_release(session->stream);
    for (size_t i = 0; i < session->stream_count; i++)
        stream_release(session->streams[i]);
    free(session->streams);
    free(session->waiting);
    pthread_mutex_destroy(&session->lock);
    free(session->capabilities);
    free(session);
}

static void insert(struct sessions *sessions, struct session *session)
{
    struct session **bucket = bucket_of(sessions, session->id);

    session->next = *bucket;
    *bucket = session;
    sessions->count++;
}

/* Removes a session from the table and returns it, with the table's reference; returns NULL if the
 * table has no session with this id. */
static struct session *detach(struct sessions *sessions, const char *id)
{
    struct session **at = bucket_of(sessions, id);
    struct session *found;

    while (*at != NULL && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    found = *at;
    if (found == NULL)
        return NULL;
    *at = found->next;
    sessions->count--;
    return found;
}

/* Makes the long-lived stream a stored one, if clients can resume streams in the session's revision
 * of MCP. `received`: the number of the newest event that the client received; 0: none.
 * `last_event`: the number of the newest stored event; 0: none. Event numbers continue from the
 * current time in milliseconds, not from `last_event`, because priming events use numbers, too, but
 * are not stored. On average, there is less than one event per millisecond, so the time is greater
 * than all numbers used so far. If the clock was set back below `received` or `last_event`, numbers
 * continue from the greater of the two. If the client received `last_event`, all events count as
 * received. */
static void keep_session_stream(struct sessions *sessions, struct session *session,
                                int64_t received, int64_t last_event)
{
    int64_t sequence = clock_utc_ms();

    if (!session_keeps_streams(session))
        return;
    if (sequence < last_event || sequence < received)
        sequence = last_event > received ? last_event : received;
    stream_keep(session->stream, sessions->store, session->id, SESSION_STREAM_ID, sequence);
    stream_limit(session->stream, sessions->limits.kept_bytes, session->principal);
    if (last_event > received)
        stream_set_received(session->stream, received);
}

/* Returns NULL if this program does not know the revision. */
static const char *find_version(const struct sessions *sessions, const char *name)
{
    for (const char *const *version = sessions->limits.versions; *version != NULL; version++)
        if (strcmp(*version, name) == 0)
            return *version;
    return NULL;
}

static void load_row(struct sessions *sessions, const struct session_row *row)
{
    const char *version = find_version(sessions, row->protocol_version);
    struct session *session;

    if (version == NULL)
        return;
    session = session_create(sessions->store, row->id, row->principal, version, row->client,
                             row->capabilities);
    atomic_init(&session->last_seen_ms, row->last_seen_ms);
    session->stored_ms = row->last_seen_ms;
    if (row->log_level >= 0)
        atomic_store(&session->log_level, (int)row->log_level);
    keep_session_stream(sessions, session, row->received, row->last_event);
    insert(sessions, session);
}

bool sessions_create(struct store *store, const struct session_limits *limits,
                     struct sessions **out, struct error *error)
{
    struct session_row *rows;
    struct sessions *sessions;
    size_t count;

    if (!session_load(store, plausible_time_now(store).now_ms - limits->idle_ms, &rows, &count,
                      error))
        return false;
    sessions = memory_zeroed(1, sizeof *sessions);
    sessions->store = store;
    sessions->limits = *limits;
    pthread_mutex_init(&sessions->lock, NULL);
    for (size_t i = 0; i < count; i++)
        load_row(sessions, &rows[i]);
    session_rows_free(rows, count);
    *out = sessions;
    return true;
}

static void store_use(struct sessions *sessions, struct session *session)
{
    int64_t seen_ms = atomic_load(&session->last_seen_ms);

    if (seen_ms != session->stored_ms)
        session_set_seen(sessions->store, session->id, seen_ms);
    session->stored_ms = seen_ms;
}

void sessions_destroy(struct sessions *sessions)
{
    if (sessions == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (sessions->buckets[i] != NULL) {
            store_use(sessions, sessions->buckets[i]);
            session_release(detach(sessions, sessions->buckets[i]->id));
        }
    pthread_mutex_destroy(&sessions->lock);
    free(sessions);
}

size_t sessions_count(struct sessions *sessions)
{
    size_t count;

    pthread_mutex_lock(&sessions->lock);
    count = sessions->count;
    pthread_mutex_unlock(&sessions->lock);
    return count;
}

/* Ends the long-lived stream of a session that was removed from the table, and cancels its calls.
 */
static void close_session(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    session->over = true;
    stream_end(session->stream);
    for (struct session_call *call = session->running; call != NULL; call = call->next)
        atomic_store(&call->cancelled, true);
    pthread_mutex_unlock(&session->lock);
}

static bool is_busy(struct session *session)
{
    bool busy;

    pthread_mutex_lock(&session->lock);
    busy = session->running != NULL || stream_is_read(session->stream);
    pthread_mutex_unlock(&session->lock);
    return busy;
}

/* Whether `session` should be removed rather than `other` (NULL: there is no other). A session that
 * is not in use goes before one that is; if both or neither are in use, the one that was used least
 * recently goes first. */
static bool goes_before(struct session *session, struct session *other)
{
    bool busy = is_busy(session);

    if (other == NULL || busy != is_busy(other))
        return other == NULL || !busy;
    return atomic_load(&session->last_seen_ms) < atomic_load(&other->last_seen_ms);
}

/* Returns the session to remove if the principal (NULL: all principals together) has `limit`
 * sessions or more, or NULL if there are fewer. The lock must be held. */
static struct session *find_surplus(struct sessions *sessions, const char *principal, size_t limit)
{
    struct session *first = NULL;
    size_t count = 0;

    if (sessions->count < limit)
        return NULL;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct session *s = sessions->buckets[i]; s != NULL; s = s->next) {
            if (principal != NULL && strcmp(s->principal, principal) != 0)
                continue;
            count++;
            if (goes_before(s, first))
                first = s;
        }
    return count < limit ? NULL : first;
}

/* Records in the audit log that a session began or ended. */
static void count_event(struct sessions *sessions, const struct session *session, const char *tool,
                        const char *why)
{
    const struct change change = {
        .actor = { .principal = session->principal, .client = session->client }, .tool = tool
    };
    char detail[80];
    const struct audit_event event = { AUDIT_SESSION, &change, "ok", detail, "" };
    struct error error;

    snprintf(detail, sizeof detail, "%.12s %s", session->id, why);
    if (!audit_log_count(sessions->store, &event, &error))
        log_warning("the audit log does not record %s (session %s): %s", tool, detail,
                    error.message);
}

static void make_room(struct sessions *sessions, const char *principal)
{
    const struct session_limits *limits = &sessions->limits;
    const char *setting = "sessions_per_principal";
    struct session *surplus, *evicted = NULL;
    struct error error;

    pthread_mutex_lock(&sessions->lock);
    surplus = find_surplus(sessions, principal, limits->per_principal);
    if (surplus == NULL) {
        surplus = find_surplus(sessions, NULL, limits->total);
        setting = "sessions";
    }
    if (surplus != NULL)
        evicted = detach(sessions, surplus->id);
    pthread_mutex_unlock(&sessions->lock);
    if (evicted == NULL)
        return;
    log_warning("session %.12s of %s is removed to make room for a new one (limit: setting %s)",
                evicted->id, evicted->principal, setting);
    if (!session_remove(sessions->store, evicted->id, &error))
        log_warning("session %.12s has ended, but is still stored: %s", evicted->id, error.message);
    close_session(evicted);
    count_event(sessions, evicted, "session_end", "made room for another");
    session_release(evicted);
}

static CHECKED bool store_session(struct sessions *sessions, const struct session *session,
                                  int64_t now_ms, struct error *error)
{
    struct session_row row = { .created_ms = now_ms, .last_seen_ms = now_ms };

    text_copy(row.id, sizeof row.id, session->id);
    text_copy(row.principal, sizeof row.principal, session->principal);
    text_copy(row.protocol_version, sizeof row.protocol_version, session->version);
    text_copy(row.client, sizeof row.client, session->client);
    row.capabilities = session->capabilities;
    return session_add(sessions->store, &row, error);
}

bool session_begin(struct sessions *sessions, const char *principal, const char *version,
                   const char *client, const char *capabilities, struct session **out,
                   struct error *error)
{
    int64_t now_ms = clock_utc_ms();
    struct session *session;
    char id[ID_SIZE];

    make_room(sessions, principal);
    random_id("ses", id);
    session = session_create(sessions->store, id, principal, version, client, capabilities);
    atomic_init(&session->last_seen_ms, now_ms);
    session->stored_ms = now_ms;
    keep_session_stream(sessions, session, 0, 0);
    if (!store_session(sessions, session, now_ms, error)) {
        session_release(session);
        return false;
    }
    atomic_fetch_add(&session->references, 1); /* the caller's reference */
    pthread_mutex_lock(&sessions->lock);
    insert(sessions, session);
    pthread_mutex_unlock(&sessions->lock);
    count_event(sessions, session, "session_open", version);
    *out = session;
    return true;
}

struct session *sessions_find(struct sessions *sessions, const char *id)
{
    struct session *session;

    pthread_mutex_lock(&sessions->lock);
    session = *bucket_of(sessions, id);
    while (session != NULL && strcmp(session->id, id) != 0)
        session = session->next;
    if (session != NULL)
        atomic_fetch_add(&session->references, 1);
    pthread_mutex_unlock(&sessions->lock);
    return session;
}

struct session *session_find(struct sessions *sessions, const char *id, const char *principal)
{
    struct session *session = sessions_find(sessions, id);

    if (session != NULL && strcmp(session->principal, principal) != 0) {
        session_release(session);
        return NULL;
    }
    if (session != NULL)
        atomic_store_explicit(&session->last_seen_ms, clock_utc_ms(), memory_order_relaxed);
    return session;
}

bool session_end(struct sessions *sessions, struct session *session, const char *why,
                 struct error *error)
{
    struct session *detached;

    pthread_mutex_lock(&sessions->lock);
    detached = detach(sessions, session->id);
    pthread_mutex_unlock(&sessions->lock);
    if (detached == NULL)
        return true;
    close_session(detached);
    count_event(sessions, detached, "session_end", why);
    session_release(detached);
    return session_remove(sessions->store, session->id, error);
}

/* ---- Cleaning up ---- */

/* Returns all sessions, with a reference to each. The caller releases them and frees the array. */
static struct session **snapshot(struct sessions *sessions, size_t *count)
{
    struct session **all;

    *count = 0;
    pthread_mutex_lock(&sessions->lock);
    all = memory_zeroed(sessions->count + 1, sizeof *all);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct session *s = sessions->buckets[i]; s != NULL; s = s->next) {
            atomic_fetch_add(&s->references, 1);
            all[(*count)++] = s;
        }
    pthread_mutex_unlock(&sessions->lock);
    return all;
}

/* Ends the session if it was unused for too long; otherwise stores when it was last used. A session
 * that is in use counts as used now. So does one whose last use is more than AHEAD_MS in the
 * future, because the clock has been set back since then. */
static void tidy(struct sessions *sessions, struct session *session, int64_t now_ms)
{
    struct error error;

    if (is_busy(session) || atomic_load(&session->last_seen_ms) > clock_utc_ms() + AHEAD_MS)
        atomic_store(&session->last_seen_ms, now_ms);
    if (atomic_load(&session->last_seen_ms) >= now_ms - sessions->limits.idle_ms)
        store_use(sessions, session);
    else if (!session_end(sessions, session, "was unused for too long", &error))
        log_warning("session %.12s has ended, but is still stored: %s", session->id, error.message);
}

void sessions_tidy(struct sessions *sessions, int64_t now_ms)
{
    size_t count;
    struct session **all = snapshot(sessions, &count);
    struct error error;

    for (size_t i = 0; i < count; i++) {
        tidy(sessions, all[i], now_ms);
        session_release(all[i]);
    }
    free(all);
    if (!events_expire(sessions->store, now_ms, &error))
        log_warning("old events are not deleted: %s", error.message);
}

void sessions_notify(struct sessions *sessions, const char *json, size_t length)
{
    size_t count;
    struct session **all = snapshot(sessions, &count);

    for (size_t i = 0; i < count; i++) {
        session_notify(all[i], json, length);
        session_release(all[i]);
    }
    free(all);
}
