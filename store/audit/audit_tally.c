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

#define CHAINS 512
#define USERS_LIMIT 128                /* beyond that, all are counted as one */
#define WHOLE_BYTES_LIMIT (32UL << 10) /* of one principal's own rows, in a round */
#define ROW_BYTES 400                  /* bytes of such a row besides its texts */
#define SEVERAL "(several)"            /* no principal or tool can have this name */

static const struct rule {
    int64_t whole;   /* this many calls get a row each */
    unsigned rounds; /* a window ends after this many calls of audit_log_flush */
    size_t counts;   /* counts of one principal */
    bool waits;      /* rows wait for the disk */
} rules[] = {
    [AUDIT_REFUSED] = { 10, 1, 64, true },  [AUDIT_READ] = { 0, 1, 64, false },
    [AUDIT_LOGIN] = { 0, 1, 256, false },   [AUDIT_SESSION] = { 10, 1, 64, false },
    [AUDIT_SECRET] = { 1, 60, 256, false },
};

/* Calls that agree in all of these are counted together. */
struct sort {
    enum audit_kind kind;
    char principal[64], tool[64], outcome[24], subject[192];
};

struct count {
    struct count *next;
    struct sort sort;
    char role[16], client[128], request_id[40]; /* of the newest call, like the next member */
    char *detail;
    int64_t seen;              /* in this window */
    int64_t unwritten;         /* those of them that are not written yet */
    int64_t first_ms, last_ms; /* of those not yet written */
    unsigned rounds;           /* calls of audit_log_flush since the window began */
};

struct user {
    struct user *next;
    char principal[64];
    size_t counts, whole_bytes;
};

struct audit_tally {
    pthread_mutex_t lock;
    struct user *users;
    size_t user_count;
    struct count *chains[CHAINS];
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
    for (size_t i = 0; i < CHAINS; i++)
        free_counts(tally->chains[i]);
    while (tally->users != NULL) {
        struct user *next = tally->users->next;

        free(tally->users);
        tally->users = next;
    }
    pthread_mutex_destroy(&tally->lock);
    free(tally);
}

/* ---- Finding: under the lock ---- */

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

/* FNV-1a over all of its bytes: those after the end of a text are zero. */
static struct count **chain_of(struct audit_tally *tally, const struct sort *sort)
{
    const uint8_t *bytes = (const uint8_t *)sort;
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < sizeof *sort; i++)
        hash = (hash ^ bytes[i]) * 16777619U;
    return &tally->chains[hash % CHAINS];
}

static struct count *find(struct audit_tally *tally, const struct sort *sort)
{
    struct count *count = *chain_of(tally, sort);

    while (count != NULL && memcmp(&count->sort, sort, sizeof *sort) != 0)
        count = count->next;
    return count;
}

static struct count *add(struct audit_tally *tally, const struct sort *sort)
{
    struct count **chain = chain_of(tally, sort);
    struct count *count = memory_zeroed(1, sizeof *count);

    count->sort = *sort;
    count->next = *chain;
    *chain = count;
    find_or_add_user(tally, sort->principal)->counts++;
    return count;
}

static void make_sort(const struct audit_event *event, const char *principal, struct sort *out)
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
    struct sort sort;
    struct count *count;

    make_sort(event, user->principal, &sort);
    count = find(tally, &sort);
    if (count != NULL)
        return count;
    if (user->counts < rules[event->kind].counts)
        return add(tally, &sort);
    memset(&sort, 0, sizeof sort);
    sort.kind = event->kind;
    text_copy(sort.principal, sizeof sort.principal, user->principal);
    text_copy(sort.tool, sizeof sort.tool, SEVERAL);
    text_copy(sort.outcome, sizeof sort.outcome, SEVERAL);
    count = find(tally, &sort);
    return count != NULL ? count : add(tally, &sort);
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

/* Under the lock. */
static bool gets_own_row(const struct count *count, struct user *user,
                         const struct audit_event *event)
{
    size_t bytes =
        ROW_BYTES + strlen(or_empty(event->change->arguments)) + strlen(or_empty(event->detail));

    if (count->seen > rules[event->kind].whole || user->whole_bytes + bytes > WHOLE_BYTES_LIMIT)
        return false;
    user->whole_bytes += bytes;
    return true;
}

/* Counts a call. False: it gets a row of its own. */
static bool is_counted(struct audit_tally *tally, const struct audit_event *event)
{
    struct user *user;
    struct count *count;
    bool own;

    pthread_mutex_lock(&tally->lock);
    user = find_or_add_user(tally, or_empty(event->change->actor.principal));
    count = find_or_add(tally, event, user);
    count->seen++;
    own = gets_own_row(count, user, event);
    if (!own)
        note_newest(count, event, clock_utc_ms());
    pthread_mutex_unlock(&tally->lock);
    return !own;
}

/* ---- Rows ---- */

/* A row whose writing nobody waits for, with copies of its texts. */
struct later {
    struct store *store;
    char *arguments, *detail, *subject, *principal, *role, *client, *request_id, *tool, *outcome;
};

static void later_free(void *context)
{
    struct later *later = context;

    free(later->arguments);
    free(later->detail);
    free(later->subject);
    free(later->principal);
    free(later->role);
    free(later->client);
    free(later->request_id);
    free(later->tool);
    free(later->outcome);
    free(later);
}

static CHECKED bool apply_later(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct later *later = context;
    const struct change change = {
        .actor = { later->principal, later->role, later->client, later->request_id },
        .tool = later->tool,
        .arguments = later->arguments,
    };
    const struct audit_note note = { &change,       "outcome",      later->outcome,
                                     later->detail, later->subject, 1 };
    int64_t id;

    return audit_log_insert(connection, &later->store->audit_keys, &note, &id, error);
}

static CHECKED bool add_later(struct store *store, const struct audit_event *event,
                              struct error *error)
{
    const struct change *change = event->change;
    struct later *later = memory_zeroed(1, sizeof *later);

    *later = (struct later){
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
    return database_defer_take(store->main, apply_later, later, later_free, error);
}

bool audit_log_count(struct store *store, const struct audit_event *event, struct error *error)
{
    if (is_counted(store->tally, event))
        return true;
    if (rules[event->kind].waits && database_may_wait())
        return audit_log_add(store, event->change, event->outcome, event->detail, event->subject,
                             error);
    return add_later(store, event, error);
}

/* ---- Writing what was counted ---- */

/* Under the lock: ends a window that is over. */
static bool is_due(struct count *count, bool closing)
{
    return ++count->rounds >= rules[count->sort.kind].rounds || closing;
}

static void leave_user(struct audit_tally *tally, const char *principal)
{
    struct user *user = find_user(tally, principal);

    if (user != NULL && user->counts > 0)
        user->counts--;
}

/* Under the lock: forgets principals without counts. */
static void begin_round(struct audit_tally *tally)
{
    for (struct user **at = &tally->users; *at != NULL;) {
        struct user *user = *at;

        user->whole_bytes = 0;
        if (user->counts > 0) {
            at = &user->next;
            continue;
        }
        *at = user->next;
        free(user);
        tally->user_count--;
    }
}

/* Removes the counts whose windows are over from the table. */
static struct count *take_due(struct audit_tally *tally, bool closing)
{
    struct count *due = NULL;

    pthread_mutex_lock(&tally->lock);
    for (size_t i = 0; i < CHAINS; i++)
        for (struct count **at = &tally->chains[i]; *at != NULL;) {
            struct count *count = *at;

            if (!is_due(count, closing)) {
                at = &count->next;
                continue;
            }
            *at = count->next;
            count->next = due;
            due = count;
            leave_user(tally, count->sort.principal);
        }
    begin_round(tally);
    pthread_mutex_unlock(&tally->lock);
    return due;
}

/* Adds counts that could not be written to those made since. */
static void put_back(struct audit_tally *tally, struct count *count)
{
    struct count *newer = find(tally, &count->sort);

    if (newer == NULL)
        newer = add(tally, &count->sort);
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
        .actor = { count->sort.principal, count->role, count->client, count->request_id },
        .tool = count->sort.tool,
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
        &change,         "outcome", count->sort.outcome, text_string(&detail), count->sort.subject,
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
    struct count *due = take_due(store->tally, closing);
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
        log_error("counted calls are lost to the audit log: %s", error.message);
}
