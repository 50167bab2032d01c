#include "server/session.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/client_log.h"
#include "server/mcp.h"
#include "server/rpc.h"
#include "server/stream.h"

#define BUCKETS 4096
#define STANDING "0" /* the standing stream's id */

struct sessions {
    struct store *store;
    size_t limit;
    int64_t idle_ms;
    pthread_mutex_t lock; /* over the rest, and every session's `next` */
    struct session *buckets[BUCKETS];
    size_t count;
};

/* Ids are random, but a client may ask for any. */
static struct session **bucket_of(struct sessions *sessions, const char *id)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *id != '\0'; id++)
        hash = (hash ^ (uint8_t)*id) * 16777619u;
    return &sessions->buckets[hash % BUCKETS];
}

bool session_keeps_streams(const struct session *session)
{
    return strcmp(session->version, "2025-03-26") >= 0;
}

/* Older clients fail at an event without data. */
bool session_primes_streams(const struct session *session)
{
    return strcmp(session->version, "2025-11-25") >= 0;
}

static struct session *session_create(struct store *store, const char *id, const char *principal,
                                      const char *version, const char *client,
                                      const char *capabilities)
{
    struct session *session = memory_zeroed(1, sizeof *session);

    text_copy(session->id, sizeof session->id, id);
    text_copy(session->principal, sizeof session->principal, principal);
    text_copy(session->client, sizeof session->client, client);
    session->version = version;
    session->capabilities = memory_copy_text(capabilities);
    session->standing = stream_create(NULL);
    if (session_keeps_streams(session))
        stream_keep(session->standing, store, id, STANDING, clock_utc_ms());
    pthread_mutex_init(&session->lock, NULL);
    atomic_init(&session->references, 1);
    atomic_init(&session->log_level, (int)CLIENT_LOG_LEVEL);
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
    stream_release(session->standing);
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

/* The table's reference goes to the caller; NULL if it is not there (any more). */
static struct session *take_out(struct sessions *sessions, const char *id)
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

static void take_up(struct sessions *sessions, const struct session_row *row)
{
    const char *version = legacy_version(row->protocol_version);
    struct session *session;

    if (version == NULL)
        return;
    session = session_create(sessions->store, row->id, row->principal, version, row->client,
                             row->capabilities);
    atomic_init(&session->last_seen_ms, row->last_seen_ms);
    session->stored_ms = row->last_seen_ms;
    insert(sessions, session);
}

bool sessions_create(struct store *store, size_t limit, int64_t idle_ms, struct sessions **out,
                     struct error *error)
{
    struct session_row *rows;
    struct sessions *sessions;
    size_t count;

    if (!session_load(store, clock_utc_ms() - idle_ms, &rows, &count, error))
        return false;
    sessions = memory_zeroed(1, sizeof *sessions);
    sessions->store = store;
    sessions->limit = limit;
    sessions->idle_ms = idle_ms;
    pthread_mutex_init(&sessions->lock, NULL);
    for (size_t i = 0; i < count; i++)
        take_up(sessions, &rows[i]);
    session_rows_free(rows, count);
    *out = sessions;
    return true;
}

static void store_use(struct sessions *sessions, struct session *session)
{
    int64_t seen_ms = atomic_load(&session->last_seen_ms);
    struct error error;

    if (seen_ms == session->stored_ms)
        return;
    if (session_touch(sessions->store, session->id, seen_ms, &error))
        session->stored_ms = seen_ms;
    else
        log_warning("session %.12s: %s", session->id, error.message);
}

void sessions_destroy(struct sessions *sessions)
{
    if (sessions == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (sessions->buckets[i] != NULL) {
            store_use(sessions, sessions->buckets[i]);
            session_release(take_out(sessions, sessions->buckets[i]->id));
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

/* Under the lock: the one unused for longest. */
static struct session *oldest(struct sessions *sessions)
{
    struct session *found = NULL;

    for (size_t i = 0; i < BUCKETS; i++)
        for (struct session *s = sessions->buckets[i]; s != NULL; s = s->next)
            if (found == NULL || atomic_load(&s->last_seen_ms) < atomic_load(&found->last_seen_ms))
                found = s;
    return found;
}

/* Nobody can ask for its calls or read its stream any more. */
static void close_session(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    session->over = true;
    stream_end(session->standing);
    for (struct rpc *rpc = session->running; rpc != NULL; rpc = rpc->next_running)
        atomic_store(&rpc->cancelled, true);
    pthread_mutex_unlock(&session->lock);
}

static void make_room(struct sessions *sessions)
{
    struct session *evicted = NULL;
    struct error error;

    pthread_mutex_lock(&sessions->lock);
    if (sessions->count >= sessions->limit)
        evicted = take_out(sessions, oldest(sessions)->id);
    pthread_mutex_unlock(&sessions->lock);
    if (evicted == NULL)
        return;
    log_warning("session %.12s of %s is forgotten: there are %zu (setting sessions)", evicted->id,
                evicted->principal, sessions->limit);
    if (!session_remove(sessions->store, evicted->id, &error))
        log_warning("session %.12s is not removed: %s", evicted->id, error.message);
    close_session(evicted);
    session_release(evicted);
}

static bool store_session(struct sessions *sessions, const struct session *session, int64_t now_ms,
                          struct error *error)
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

    make_room(sessions);
    id_create("ses", id);
    session = session_create(sessions->store, id, principal, version, client, capabilities);
    atomic_init(&session->last_seen_ms, now_ms);
    session->stored_ms = now_ms;
    if (!store_session(sessions, session, now_ms, error)) {
        session_release(session);
        return false;
    }
    atomic_fetch_add(&session->references, 1); /* the caller's */
    pthread_mutex_lock(&sessions->lock);
    insert(sessions, session);
    pthread_mutex_unlock(&sessions->lock);
    *out = session;
    return true;
}

struct session *session_find(struct sessions *sessions, const char *id, const char *principal)
{
    struct session *session;

    pthread_mutex_lock(&sessions->lock);
    session = *bucket_of(sessions, id);
    while (session != NULL && strcmp(session->id, id) != 0)
        session = session->next;
    if (session != NULL && strcmp(session->principal, principal) != 0)
        session = NULL;
    if (session != NULL)
        atomic_fetch_add(&session->references, 1);
    pthread_mutex_unlock(&sessions->lock);
    if (session != NULL)
        atomic_store_explicit(&session->last_seen_ms, clock_utc_ms(), memory_order_relaxed);
    return session;
}

bool session_end(struct sessions *sessions, struct session *session, struct error *error)
{
    struct session *taken;

    pthread_mutex_lock(&sessions->lock);
    taken = take_out(sessions, session->id);
    pthread_mutex_unlock(&sessions->lock);
    if (taken == NULL)
        return true;
    close_session(taken);
    session_release(taken);
    return session_remove(sessions->store, session->id, error);
}

/* ---- Tidying ---- */

/* Every session, with a reference each; free the array. */
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

static bool is_busy(struct session *session)
{
    bool busy;

    pthread_mutex_lock(&session->lock);
    busy = session->running != NULL || stream_is_read(session->standing);
    pthread_mutex_unlock(&session->lock);
    return busy;
}

static void tidy(struct sessions *sessions, struct session *session, int64_t now_ms)
{
    struct error error;

    if (is_busy(session))
        atomic_store(&session->last_seen_ms, now_ms);
    if (atomic_load(&session->last_seen_ms) >= now_ms - sessions->idle_ms)
        store_use(sessions, session);
    else if (!session_end(sessions, session, &error))
        log_warning("session %.12s is not removed: %s", session->id, error.message);
}

void sessions_tidy(struct sessions *sessions, int64_t now_ms)
{
    size_t count;
    struct session **all = snapshot(sessions, &count);

    for (size_t i = 0; i < count; i++) {
        tidy(sessions, all[i], now_ms);
        session_release(all[i]);
    }
    free(all);
}

/* ---- Of one session ---- */

void session_push(struct session *session, const char *json, size_t length)
{
    if (stream_is_read(session->standing))
        stream_push(session->standing, json, length);
}

void sessions_push(struct sessions *sessions, const char *json, size_t length)
{
    size_t count;
    struct session **all = snapshot(sessions, &count);

    for (size_t i = 0; i < count; i++) {
        session_push(all[i], json, length);
        session_release(all[i]);
    }
    free(all);
}

bool session_is_over(struct session *session)
{
    bool over;

    pthread_mutex_lock(&session->lock);
    over = session->over;
    pthread_mutex_unlock(&session->lock);
    return over;
}

void session_add_call(struct session *session, struct rpc *rpc)
{
    pthread_mutex_lock(&session->lock);
    rpc->next_running = session->running;
    session->running = rpc;
    pthread_mutex_unlock(&session->lock);
}

void session_remove_call(struct session *session, struct rpc *rpc)
{
    pthread_mutex_lock(&session->lock);
    for (struct rpc **at = &session->running; *at != NULL; at = &(*at)->next_running)
        if (*at == rpc) {
            *at = rpc->next_running;
            break;
        }
    pthread_mutex_unlock(&session->lock);
}

void session_cancel_call(struct session *session, const char *id)
{
    pthread_mutex_lock(&session->lock);
    for (struct rpc *rpc = session->running; rpc != NULL; rpc = rpc->next_running)
        if (rpc->id != NULL && strcmp(rpc->id, id) == 0)
            atomic_store(&rpc->cancelled, true);
    pthread_mutex_unlock(&session->lock);
}
