/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_tally.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "store/audit/audit_log.h"
#include "store/ledger/store_private.h"

#define BUCKETS 512
#define USERS_LIMIT 128     /* further principals are counted together */
#define SEVERAL "(several)" /* no principal or tool can have this name */
/* A principal's calls can get rows of their own up to this total size, in bytes, between two
 * flushes. */
#define OWN_ROW_BYTES_LIMIT (32UL << 10)
#define ROW_BYTES 400 /* estimated bytes of such a row without its arguments and detail */

/* How calls of each kind are counted. A struct count stands for the calls with the same key (struct
 * count_key). Its window begins with the first of these calls. */
static const struct rule {
    int64_t own_rows; /* the first calls in a window, up to this many, get a row each */
    unsigned rounds;  /* a window lasts until audit_log_flush has been called this many times */
    size_t counts;    /* once a principal has this many counts, new keys are counted as SEVERAL */
    /* The caller of a call that gets a row of its own waits until the row is on disk (unless
     * database_may_wait returns false). */
    bool waits;
} rules[] = {
    [AUDIT_REFUSED] = { 10, 1, 64, true },  [AUDIT_READ] = { 0, 1, 64, false },
    [AUDIT_LOGIN] = { 0, 1, 256, false },   [AUDIT_SESSION] = { 10, 1, 64, false },
    [AUDIT_SECRET] = { 1, 60, 256, false },
};

/* Calls that have all of these in common are counted together. */
struct count_key {
    enum audit_kind kind;
    char principal[64], tool[64], outcome[24], subject[192];
};

struct count {
    struct count *next;
    struct count_key key;
    char role[16], client[128], request_id[40]; /* of the newest unwritten call, like detail */
    char *detail;
    int64_t seen;              /* calls in this window */
    int64_t unwritten;         /* calls that no row represents yet */
    int64_t first_ms, last_ms; /* times of the unwritten calls */
    unsigned rounds;           /* flushes since the window began */
};

struct user {
    struct user *next;
    char principal[64];
    size_t counts;
    size_t own_row_bytes; /* granted by grant_own_row since the last flush */
};

struct audit_tally {
    pthread_mutex_t lock;
    struct user *users;
    size_t user_count;
    struct count *buckets[BUCKETS];
};

struct audit_tally *audit_tally_create(void)
{
    struct audit_tally *tally = memory_zeroed(1, sizeof *tally);

    pthread_mutex_init(&tally->lock, NULL);
    return tally;
}

static void free_count(struct count *count)
{
    free(count->detail);
    free(count);
}

static void free_counts(struct count *count)
{
    while (count != NULL) {
        struct count *next = count->next;

        free_count(count);
        count = next;
    }
}

void audit_tally_destroy(struct audit_tally *tally)
{
    if (tally == NULL)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        free_counts(tally->buckets[i]);
    while (tally->users != NULL) {
        struct user *next = tally->users->next;

        free(tally->users);
        tally->users = next;
    }
    pthread_mutex_destroy(&tally->lock);
    free(tally);
}

/* ---- Finding counts: the caller holds the lock ---- */

static struct user *find_user(struct audit_tally *tally, const char *principal)
{
    struct user *user = tally->users;

    while (user != NULL && strcmp(user->principal, principal) != 0)
        user = user->next;
    return user;
}

static struct user *find_or_add_user(struct audit_tally *tally, const char *principal)
{
    struct user *user = find_user(tally, principal);

    if (user == NULL && tally->user_count >= USERS_LIMIT) {
        principal = SEVERAL;
        user = find_user(tally, principal);
    }
    if (user != NULL)
        return user;
    user = memory_zeroed(1, sizeof *user);
    text_copy(user->principal, sizeof user->principal, principal);
    user->next = tally->users;
    tally->users = user;
    tally->user_count++;
    return user;
}

/* Hashes all bytes of the key with FNV-1a: the bytes after the end of each text are zero. */
static struct count **bucket_of(struct audit_tally *tally, const struct count_key *key)
{
    const uint8_t *bytes = (const uint8_t *)key;
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ bytes[i]) * 16777619U;
    return &tally->buckets[hash % BUCKETS];
}

static struct count *find(struct audit_tally *tally, const struct count_key *key)
{
    struct count *count = *bucket_of(tally, key);

    while (count != NULL && memcmp(&count->key, key, sizeof *key) != 0)
        count = count->next;
    return count;
}

static struct count *add(struct audit_tally *tally, const struct count_key *key)
{
    struct count **bucket = bucket_of(tally, key);
    struct count *count = memory_zeroed(1, sizeof *count);

    count->key = *key;
    count->next = *bucket;
    *bucket = count;
    find_or_add_user(tally, key->principal)->counts++;
    return count;
}

static void make_key(const struct audit_event *event, const char *principal, struct count_key *out)
{
    memset(out, 0, sizeof *out);
    out->kind = event->kind;
    text_copy(out->principal, sizeof out->principal, principal);
    text_copy(out->tool, sizeof out->tool, event->change->tool);
    text_copy(out->outcome, sizeof out->outcome, event->outcome);
    text_copy(out->subject, sizeof out->subject, event->subject == NULL ? "" : event->subject);
}

static struct count *find_or_add(struct audit_tally *tally, const struct audit_event *event,
                                 const struct user *user)
{
    struct count_key key;
    struct count *count;

    make_key(event, user->principal, &key);
    count = find(tally, &key);
    if (count != NULL)
        return count;
    if (user->counts < rules[event->kind].counts)
        return add(tally, &key);
    memset(&key, 0, sizeof key);
    key.kind = event->kind;
    text_copy(key.principal, sizeof key.principal, user->principal);
    text_copy(key.tool, sizeof key.tool, SEVERAL);
    text_copy(key.outcome, sizeof key.outcome, SEVERAL);
    count = find(tally, &key);
    return count != NULL ? count : add(tally, &key);
}

/* ---- Counting ---- */

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static void note_newest(struct count *count, const struct audit_event *event, int64_t now_ms)
{
    const struct actor *actor = &event->change->actor;

    if (count->unwritten++ == 0)
        count->first_ms = now_ms;
    count->last_ms = now_ms;
    text_copy(count->role, sizeof count->role, or_empty(actor->role));
    text_copy(count->client, sizeof count->client, or_empty(actor->client));
    text_copy(count->request_id, sizeof count->request_id, or_empty(actor->request_id));
    free(count->detail);
    count->detail = memory_copy_text(or_empty(event->detail));
}

/* Returns whether the call gets a row of its own; if so, adds the row's size to the principal's
 * own_row_bytes. The caller holds the lock. */
static bool grant_own_row(const struct count *count, struct user *user,
                          const struct audit_event *event)
{
    size_t bytes =
        ROW_BYTES + strlen(or_empty(event->change->arguments)) + strlen(or_empty(event->detail));

    if (count->seen > rules[event->kind].own_rows
        || user->own_row_bytes + bytes > OWN_ROW_BYTES_LIMIT)
        return false;
    user->own_row_bytes += bytes;
    return true;
}

/* Counts a call together with others. Returns false if it gets a row of its own instead. */
static bool count_with_others(struct audit_tally *tally, const struct audit_event *event)
{
    struct user *user;
    struct count *count;
    bool own;

    pthread_mutex_lock(&tally->lock);
    user = find_or_add_user(tally, or_empty(event->change->actor.principal));
    count = find_or_add(tally, event, user);
    count->seen++;
    own = grant_own_row(count, user, event);
    if (!own)
        note_newest(count, event, clock_utc_ms());
    pthread_mutex_unlock(&tally->lock);
    return !own;
}

/* ---- Rows ---- */

/* A row that nobody waits for, with copies of its texts. */
struct deferred_row {
    struct store *store;
    char *arguments, *detail, *subject, *principal, *role, *client, *request_id, *tool, *outcome;
};

static void deferred_row_free(void *context)
{
    struct deferred_row *row = context;

    free(row->arguments);
    free(row->detail);
    free(row->subject);
    free(row->principal);
    free(row->role);
    free(row->client);
    free(row->request_id);
    free(row->tool);
    free(row->outcome);
    free(row);
}

static CHECKED bool apply_deferred_row(struct sql_connection *connection, void *context,
                                       struct error *error)
{
    const struct deferred_row *row = context;
    const struct change change = {
        .actor = { row->principal, row->role, row->client, row->request_id },
        .tool = row->tool,
        .arguments = row->arguments,
    };
    const struct audit_note note = {
        &change, "outcome", row->outcome, row->detail, row->subject, 1
    };
    int64_t id;

    return audit_log_insert(connection, &row->store->audit_keys, &note, &id, error);
}

static CHECKED bool defer_row(struct store *store, const struct audit_event *event,
                              struct error *error)
{
    const struct change *change = event->change;
    struct deferred_row *row = memory_zeroed(1, sizeof *row);

    *row = (struct deferred_row){
        .store = store,
        .arguments = audit_log_clip(change->arguments, CLIP_LIMIT),
        .detail = memory_copy_text(or_empty(event->detail)),
        .subject = memory_copy_text(or_empty(event->subject)),
        .principal = memory_copy_text(or_empty(change->actor.principal)),
        .role = memory_copy_text(or_empty(change->actor.role)),
        .client = memory_copy_text(or_empty(change->actor.client)),
        .request_id = memory_copy_text(or_empty(change->actor.request_id)),
        .tool = memory_copy_text(change->tool),
        .outcome = memory_copy_text(event->outcome),
    };
    return database_defer_take(store->main, apply_deferred_row, row, deferred_row_free, error);
}

bool audit_log_count(struct store *store, const struct audit_event *event, struct error *error)
{
    if (count_with_others(store->tally, event))
        return true;
    if (rules[event->kind].waits && database_may_wait())
        return audit_log_add(store, event->change, event->outcome, event->detail, event->subject,
                             error);
    return defer_row(store, event, error);
}

/* ---- Writing what was counted ---- */

/* Ends a round (the time between two flushes) for one count. Returns whether this also ends the
 * count's window. The caller holds the lock. */
static bool end_round(struct count *count, bool closing)
{
    return ++count->rounds >= rules[count->key.kind].rounds || closing;
}

static void decrement_counts(struct audit_tally *tally, const char *principal)
{
    struct user *user = find_user(tally, principal);

    if (user != NULL && user->counts > 0)
        user->counts--;
}

/* Resets each principal's own_row_bytes, and forgets principals without counts. The caller holds
 * the lock. */
static void begin_round(struct audit_tally *tally)
{
    for (struct user **at = &tally->users; *at != NULL;) {
        struct user *user = *at;

        user->own_row_bytes = 0;
        if (user->counts > 0) {
            at = &user->next;
            continue;
        }
        *at = user->next;
        free(user);
        tally->user_count--;
    }
}

/* Ends a round and begins the next: removes from the tally the counts whose windows have ended, and
 * returns them as a list. */
static struct count *remove_due(struct audit_tally *tally, bool closing)
{
    struct count *due = NULL;

    pthread_mutex_lock(&tally->lock);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct count **at = &tally->buckets[i]; *at != NULL;) {
            struct count *count = *at;

            if (!end_round(count, closing)) {
                at = &count->next;
                continue;
            }
            *at = count->next;
            count->next = due;
            due = count;
            decrement_counts(tally, count->key.principal);
        }
    begin_round(tally);
    pthread_mutex_unlock(&tally->lock);
    return due;
}

/* Called after a failed write: adds `count` to the tally's count with the same key, or to a new one
 * if there is none. The caller holds the lock. */
static void put_back(struct audit_tally *tally, struct count *count)
{
    struct count *newer = find(tally, &count->key);

    if (newer == NULL)
        newer = add(tally, &count->key);
    else if (newer->unwritten > 0)
        count->last_ms = newer->last_ms;
    newer->first_ms = count->first_ms;
    newer->last_ms = count->last_ms;
    newer->seen += count->seen;
    newer->unwritten += count->unwritten;
    if (newer->detail != NULL)
        return;
    text_copy(newer->role, sizeof newer->role, count->role);
    text_copy(newer->client, sizeof newer->client, count->client);
    text_copy(newer->request_id, sizeof newer->request_id, count->request_id);
    newer->detail = memory_copy_text(or_empty(count->detail));
}

static void put_all_back(struct audit_tally *tally, struct count *due)
{
    pthread_mutex_lock(&tally->lock);
    for (; due != NULL; due = due->next)
        if (due->unwritten > 0)
            put_back(tally, due);
    pthread_mutex_unlock(&tally->lock);
}

static CHECKED bool write_count(struct sql_connection *connection, const struct audit_keys *keys,
                                const struct count *count, struct error *error)
{
    const struct change change = {
        .actor = { count->key.principal, count->role, count->client, count->request_id },
        .tool = count->key.tool,
    };
    char from[CLOCK_TEXT_SIZE], to[CLOCK_TEXT_SIZE];
    TEXT_AUTO detail = { 0 };
    int64_t id;

    if (count->unwritten > 1)
        text_addf(&detail, "%" PRId64 " from %s to %s%s", count->unwritten,
                  clock_format_utc(count->first_ms, from), clock_format_utc(count->last_ms, to),
                  or_empty(count->detail)[0] != '\0' ? ", the last: " : "");
    text_add(&detail, or_empty(count->detail));
    const struct audit_note note = {
        &change,         "outcome", count->key.outcome, text_string(&detail), count->key.subject,
        count->unwritten
    };
    return audit_log_insert(connection, keys, &note, &id, error);
}

struct flushing {
    const struct audit_keys *keys;
    const struct count *due;
};

static CHECKED bool apply_flush(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct flushing *flushing = context;

    for (const struct count *count = flushing->due; count != NULL; count = count->next)
        if (count->unwritten > 0 && !write_count(connection, flushing->keys, count, error))
            return false;
    return true;
}

static CHECKED bool flush(struct store *store, bool closing, struct error *error)
{
    struct count *due = remove_due(store->tally, closing);
    struct flushing flushing = { &store->audit_keys, due };
    bool written = due == NULL || database_write(store->main, apply_flush, &flushing, error);

    if (!written)
        put_all_back(store->tally, due);
    free_counts(due);
    return written;
}

bool audit_log_flush(struct store *store, struct error *error)
{
    return flush(store, false, error);
}

void audit_tally_close(struct store *store)
{
    struct error error;

    if (store->tally != NULL && store->main != NULL && !flush(store, true, &error))
        log_error("the counts of the last calls cannot be written to the audit log: %s",
                  error.message);
}
