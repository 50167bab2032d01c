/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/sign_ins.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "server/access/authority.h"
#include "store/ledger/browser_sessions.h"

#define SESSIONS_PER_KEY_MAX 32
#define NOTE_MS 10000 /* the shortest time between two updates of a session's last use */

struct sign_ins {
    struct store *store;
    struct authority *authority;
    struct sign_in_limits limits;
    void (*ended)(void *context, const uint8_t digest[DIGEST_BYTES]); /* the listener; NULL: none */
    void *context;
    pthread_mutex_t lock; /* protects the members below */
    struct browser_session *sessions;
    size_t count;
};

bool sign_ins_create(struct store *store, struct authority *authority, struct sign_in_limits limits,
                     struct sign_ins **out, struct error *error)
{
    struct sign_ins *sign_ins = memory_zeroed(1, sizeof *sign_ins);

    sign_ins->store = store;
    sign_ins->authority = authority;
    sign_ins->limits = limits;
    pthread_mutex_init(&sign_ins->lock, NULL);
    if (!browser_session_load(store, &sign_ins->sessions, &sign_ins->count, error)) {
        sign_ins_destroy(sign_ins);
        return false;
    }
    *out = sign_ins;
    return true;
}

void sign_ins_destroy(struct sign_ins *sign_ins)
{
    if (sign_ins == NULL)
        return;
    pthread_mutex_destroy(&sign_ins->lock);
    free(sign_ins->sessions);
    free(sign_ins);
}

void sign_ins_listen(struct sign_ins *sign_ins,
                     void (*ended)(void *context, const uint8_t digest[DIGEST_BYTES]),
                     void *context)
{
    sign_ins->ended = ended;
    sign_ins->context = context;
}

void sign_in_digest(const char *cookie, uint8_t out[DIGEST_BYTES])
{
    digest_sha256(cookie, strlen(cookie), out);
}

/* ---- In memory; under the lock ---- */

static struct browser_session *find(const struct sign_ins *sign_ins, const char *cookie)
{
    uint8_t digest[DIGEST_BYTES];

    sign_in_digest(cookie, digest);
    for (size_t i = 0; i < sign_ins->count; i++)
        if (memcmp(sign_ins->sessions[i].digest, digest, DIGEST_BYTES) == 0)
            return &sign_ins->sessions[i];
    return NULL;
}

/* Removes a session from memory. *out: a copy of it. */
static void detach(struct sign_ins *sign_ins, struct browser_session *session,
                   struct browser_session *out)
{
    *out = *session;
    *session = sign_ins->sessions[--sign_ins->count];
}

static bool has_expired(const struct sign_ins *sign_ins, const struct browser_session *session)
{
    int64_t now_ms = clock_utc_ms();

    return now_ms > session->created_ms + sign_ins->limits.lifetime_ms
           || now_ms > session->last_seen_ms + sign_ins->limits.idle_ms;
}

/* BUSY: the keys cannot be read at the moment. */
static CHECKED bool admit(const struct sign_ins *sign_ins, const struct browser_session *session,
                          struct principal *out, struct error *error)
{
    struct principal principal = { 0 };
    enum role role = ROLE_ADMIN;

    role_find(session->role, &role);
    if (has_expired(sign_ins, session))
        return error_set(
            error, ERROR_UNAUTHENTICATED,
            "you were signed out: the setting sign_in_idle limits the time without a request, and "
            "the setting sign_in limits the total time");
    if (!authority_check_digest(sign_ins->authority, session->key_digest, &principal, error))
        return false;
    if (!role_allows(principal.role, role))
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "you were signed out because your role was changed to %s",
                         role_name(principal.role));
    *out = principal;
    return true;
}

/* If the key already has as many sessions as it may have, returns the one that has been unused for
 * the longest time; otherwise NULL. */
static struct browser_session *find_excess(const struct sign_ins *sign_ins,
                                           const uint8_t key_digest[DIGEST_BYTES])
{
    struct browser_session *oldest = NULL;
    size_t count = 0;

    for (size_t i = 0; i < sign_ins->count; i++) {
        struct browser_session *session = &sign_ins->sessions[i];

        if (memcmp(session->key_digest, key_digest, DIGEST_BYTES) != 0)
            continue;
        count++;
        if (oldest == NULL || session->last_seen_ms < oldest->last_seen_ms)
            oldest = session;
    }
    return count >= SESSIONS_PER_KEY_MAX ? oldest : NULL;
}

/* ---- Signing in and out ---- */

static void create_cookie(char cookie[SIGN_IN_COOKIE_SIZE])
{
    uint8_t bytes[DIGEST_BYTES];

    random_bytes(bytes, sizeof bytes);
    digest_write(bytes, cookie);
}

static void report_end(const struct sign_ins *sign_ins, const struct browser_session *session)
{
    if (sign_ins->ended != NULL)
        sign_ins->ended(sign_ins->context, session->digest);
}

static void forget(struct sign_ins *sign_ins, const struct browser_session *session)
{
    struct error error;

    report_end(sign_ins, session);
    if (!browser_session_remove(sign_ins->store, session->id, NULL, &error))
        log_warning("the browser session %s has ended, but cannot be removed from the store: %s",
                    session->id, error.message);
}

/* Adds a stored session to those in memory. If its key already has as many sessions as it may have,
 * ends the one that has been unused for the longest time. */
static void remember(struct sign_ins *sign_ins, const struct browser_session *session)
{
    struct browser_session *excess, removed;

    pthread_mutex_lock(&sign_ins->lock);
    excess = find_excess(sign_ins, session->key_digest);
    if (excess != NULL)
        detach(sign_ins, excess, &removed);
    sign_ins->sessions =
        memory_resize(sign_ins->sessions, sign_ins->count + 1, sizeof *sign_ins->sessions);
    sign_ins->sessions[sign_ins->count++] = *session;
    pthread_mutex_unlock(&sign_ins->lock);
    if (excess != NULL)
        forget(sign_ins, &removed);
}

bool sign_in_add(struct sign_ins *sign_ins, const char *key, struct change *change,
                 char cookie[SIGN_IN_COOKIE_SIZE], struct error *error)
{
    struct browser_session session = { .created_ms = clock_utc_ms() };
    struct principal principal = { 0 };

    digest_sha256(key, strlen(key), session.key_digest);
    if (!authority_check_digest(sign_ins->authority, session.key_digest, &principal, error))
        return false;
    create_cookie(cookie);
    sign_in_digest(cookie, session.digest);
    random_id("brs", session.id);
    text_copy(session.role, sizeof session.role, role_name(principal.role));
    session.last_seen_ms = session.created_ms;
    change->actor.principal = principal.name;
    change->actor.role = session.role;
    if (!browser_session_add(sign_ins->store, &session, change, error))
        return false;
    remember(sign_ins, &session);
    return true;
}

bool sign_in_check(struct sign_ins *sign_ins, const char *cookie, struct principal *out,
                   struct error *error)
{
    struct browser_session *session;
    int64_t now_ms = clock_utc_ms();
    bool admitted;

    pthread_mutex_lock(&sign_ins->lock);
    session = find(sign_ins, cookie);
    admitted = session != NULL ? admit(sign_ins, session, out, error)
                               : error_set(error, ERROR_UNAUTHENTICATED, "you are not signed in");
    if (admitted && now_ms > session->last_seen_ms + NOTE_MS) {
        session->last_seen_ms = now_ms;
        browser_session_set_seen(sign_ins->store, session->id, now_ms);
    }
    pthread_mutex_unlock(&sign_ins->lock);
    return admitted;
}

/* Copies the session of a cookie and, if `removes` is set, removes it from memory. False: there is
 * no such session. */
static bool look_up(struct sign_ins *sign_ins, const char *cookie, bool removes,
                    struct browser_session *out)
{
    struct browser_session *session;

    pthread_mutex_lock(&sign_ins->lock);
    session = find(sign_ins, cookie);
    if (session != NULL && removes)
        detach(sign_ins, session, out);
    else if (session != NULL)
        *out = *session;
    pthread_mutex_unlock(&sign_ins->lock);
    return session != NULL;
}

/* Removes the session from the store first: if it were removed only from memory, it would be valid
 * again after a restart. */
bool sign_in_remove(struct sign_ins *sign_ins, const char *cookie, struct change *change,
                    struct error *error)
{
    struct browser_session session;

    if (!look_up(sign_ins, cookie, false, &session))
        return true;
    if (!browser_session_remove(sign_ins->store, session.id, change, error))
        return false;
    if (look_up(sign_ins, cookie, true, &session))
        report_end(sign_ins, &session);
    return true;
}

static bool has_ended(const struct sign_ins *sign_ins, const struct browser_session *session)
{
    struct principal principal = { 0 };

    role_find(session->role, &principal.role);
    memcpy(principal.key_digest, session->key_digest, DIGEST_BYTES);
    return has_expired(sign_ins, session) || authority_has_revoked(sign_ins->authority, &principal);
}

/* Removes from memory one session that has ended. False: no session has ended. */
static bool detach_ended(struct sign_ins *sign_ins, struct browser_session *out)
{
    bool found = false;

    pthread_mutex_lock(&sign_ins->lock);
    for (size_t i = 0; i < sign_ins->count && !found; i++) {
        found = has_ended(sign_ins, &sign_ins->sessions[i]);
        if (found)
            detach(sign_ins, &sign_ins->sessions[i], out);
    }
    pthread_mutex_unlock(&sign_ins->lock);
    return found;
}

void sign_ins_expire(struct sign_ins *sign_ins)
{
    struct browser_session ended;

    while (detach_ended(sign_ins, &ended))
        forget(sign_ins, &ended);
}
