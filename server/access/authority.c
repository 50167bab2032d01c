/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/authority.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "server/access/key_marker.h"

#define NOTE_MS 1000 /* the shortest time between two updates of a key's last use */

struct authority {
    struct store *store;
    char *data_folder;
    enum { MODE_AUTO, MODE_KEYS, MODE_NONE } mode;
    atomic_bool needs_keys; /* false: every caller is `local` */
    /* held during a refresh, so that keys that were read earlier do not replace newer ones */
    pthread_mutex_t refreshing;
    pthread_mutex_t lock;           /* protects the members below */
    void (*changed)(void *context); /* the listener (authority_listen); NULL: none */
    void *context;
    struct key_with_digest *keys; /* all keys of the store, in order of digest */
    size_t key_count;
    bool is_stale; /* the keys might have changed, but could not be read */
};

/* Whether two keys let in the same caller with the same rights. Their labels and when they were
 * last used are ignored. */
static bool is_same_key(const struct key_with_digest *a, const struct key_with_digest *b)
{
    return memcmp(a->digest, b->digest, DIGEST_BYTES) == 0 && a->key.role == b->key.role
           && a->key.expires_ms == b->key.expires_ms && a->key.revoked_ms == b->key.revoked_ms;
}

static bool are_same_keys(const struct authority *authority, const struct key_with_digest *keys,
                          size_t count)
{
    if (count != authority->key_count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_same_key(&authority->keys[i], &keys[i]))
            return false;
    return true;
}

/* Reads the keys from the store, in place of those in memory. If they cannot be read, nobody is let
 * in with the old ones. *changed: whether this might change who is let in. */
static CHECKED bool load_keys(struct authority *authority, bool *changed, struct error *error)
{
    struct key_with_digest *keys = NULL;
    size_t count = 0;
    bool loaded = api_key_load(authority->store, &keys, &count, error);

    pthread_mutex_lock(&authority->lock);
    *changed = authority->is_stale != !loaded || !are_same_keys(authority, keys, count);
    free(authority->keys);
    authority->keys = keys;
    authority->key_count = count;
    authority->is_stale = !loaded;
    pthread_mutex_unlock(&authority->lock);
    return loaded;
}

/* In the mode auto, once the first key has been added, callers without a key are refused. They are
 * still refused if the last key is revoked or the database is lost. After a loss, `opsbrain key
 * reset` lets them in again. */
static CHECKED bool update_needs_keys(struct authority *authority, bool *changed,
                                      struct error *error)
{
    size_t count;

    if (!load_keys(authority, changed, error)) {
        atomic_store(&authority->needs_keys, authority->mode != MODE_NONE);
        return false;
    }
    count = authority->key_count;
    if (count > 0)
        key_marker_write(authority->data_folder);
    atomic_store(&authority->needs_keys,
                 authority->mode == MODE_KEYS
                     || (authority->mode == MODE_AUTO
                         && (count > 0 || key_marker_exists(authority->data_folder))));
    if (authority->mode != MODE_AUTO || count > 0 || !atomic_load(&authority->needs_keys))
        return true;
    return error_set(
        error, ERROR_CONFLICT,
        "the data folder %.200s had API keys and now has none, so it is not the one used before: "
        "restore it from a backup, add a key with `opsbrain key add NAME --role admin`, or start "
        "with --auth keys; to let anybody on this machine in without a key, run `opsbrain key "
        "reset`",
        authority->data_folder);
}

static bool has_valid_key(const struct authority *authority)
{
    int64_t now_ms = clock_utc_ms();
    struct error ignored;

    for (size_t i = 0; i < authority->key_count; i++)
        if (api_key_check(&authority->keys[i].key, now_ms, &ignored))
            return true;
    return false;
}

static CHECKED bool check_binding(const struct authority *authority, bool loopback,
                                  struct error *error)
{
    bool has_key = has_valid_key(authority);

    if (!has_key && atomic_load(&authority->needs_keys))
        log_warning("no API key is valid: add one with `opsbrain key add NAME --role admin`");
    if (loopback || authority->mode == MODE_KEYS || (has_key && authority->mode == MODE_AUTO))
        return true;
    if (authority->mode == MODE_NONE)
        return error_set(error, ERROR_INVALID,
                         "the setting auth is none, but the setting listen is not a loopback "
                         "address: anyone on the network could do anything; set OPSBRAIN_AUTH to "
                         "auto or keys, or OPSBRAIN_LISTEN to 127.0.0.1:PORT");
    return error_set(error, ERROR_INVALID,
                     "the setting listen is not a loopback address, and there is no valid API key: "
                     "add one with `opsbrain key add NAME --role admin` (same OPSBRAIN_DATA), set "
                     "OPSBRAIN_AUTH=keys to start without one, or set OPSBRAIN_LISTEN to "
                     "127.0.0.1:PORT");
}

bool authority_create(struct store *store, const char *data_folder, const char *mode, bool loopback,
                      struct authority **out, struct error *error)
{
    struct authority *authority = memory_zeroed(1, sizeof *authority);
    bool changed;

    authority->store = store;
    authority->data_folder = memory_copy_text(data_folder);
    authority->mode = strcmp(mode, "keys") == 0   ? MODE_KEYS
                      : strcmp(mode, "none") == 0 ? MODE_NONE
                                                  : MODE_AUTO;
    atomic_init(&authority->needs_keys, true);
    pthread_mutex_init(&authority->refreshing, NULL);
    pthread_mutex_init(&authority->lock, NULL);
    if (!update_needs_keys(authority, &changed, error)
        || !check_binding(authority, loopback, error)) {
        authority_destroy(authority);
        return false;
    }
    *out = authority;
    return true;
}

void authority_destroy(struct authority *authority)
{
    if (authority == NULL)
        return;
    pthread_mutex_destroy(&authority->refreshing);
    pthread_mutex_destroy(&authority->lock);
    free(authority->keys);
    free(authority->data_folder);
    free(authority);
}

static int compare_digest(const void *digest, const void *key)
{
    return memcmp(digest, ((const struct key_with_digest *)key)->digest, DIGEST_BYTES);
}

/* Under the lock. NULL: there is no such key. */
static struct key_with_digest *find_key(const struct authority *authority,
                                        const uint8_t digest[DIGEST_BYTES])
{
    if (authority->key_count == 0)
        return NULL;
    return bsearch(digest, authority->keys, authority->key_count, sizeof *authority->keys,
                   compare_digest);
}

/* Under the lock. */
static CHECKED bool recognize(struct authority *authority, const uint8_t digest[DIGEST_BYTES],
                              struct principal *out, struct error *error)
{
    struct key_with_digest *found = find_key(authority, digest);
    int64_t now_ms = clock_utc_ms();
    struct api_key *key;

    if (found == NULL)
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "the API key is unknown: ask an administrator for one (opsbrain key add)");
    key = &found->key;
    if (!api_key_check(key, now_ms, error))
        return false;
    if (now_ms > key->last_used_ms + NOTE_MS) {
        key->last_used_ms = now_ms;
        api_key_note_use(authority->store, key->id, now_ms);
    }
    memcpy(out->name, key->principal, sizeof out->name);
    out->role = key->role;
    out->key_expires_ms = key->expires_ms;
    memcpy(out->key_digest, digest, DIGEST_BYTES);
    return true;
}

bool authority_check_digest(struct authority *authority, const uint8_t digest[DIGEST_BYTES],
                            struct principal *out, struct error *error)
{
    bool found;

    pthread_mutex_lock(&authority->lock);
    if (authority->is_stale)
        found = error_set(
            error, ERROR_BUSY,
            "the API keys might have changed, but could not be read: the server tries again every "
            "minute, and whenever an administrator runs `opsbrain key list`");
    else
        found = recognize(authority, digest, out, error);
    pthread_mutex_unlock(&authority->lock);
    return found;
}

bool authority_check(struct authority *authority, const char *authorization, struct principal *out,
                     struct error *error)
{
    static const struct principal local = { .name = "local", .role = ROLE_ADMIN };
    uint8_t digest[DIGEST_BYTES];
    const char *key;

    if (!atomic_load(&authority->needs_keys)) {
        *out = local;
        return true;
    }
    if (authorization == NULL)
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "an API key is needed: send the header "
                         "Authorization: Bearer " KEY_PREFIX "...");
    if (strncasecmp(authorization, "Bearer ", 7) != 0)
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "the header must have the form Authorization: Bearer " KEY_PREFIX "...");
    key = authorization + 7 + strspn(authorization + 7, " ");
    digest_sha256(key, strlen(key), digest);
    return authority_check_digest(authority, digest, out, error);
}

/* Under the lock. */
static bool is_valid(const struct authority *authority, const struct principal *principal)
{
    const struct key_with_digest *found = find_key(authority, principal->key_digest);
    struct error ignored;

    return found != NULL && found->key.role >= principal->role
           && api_key_check(&found->key, clock_utc_ms(), &ignored);
}

bool authority_still_admits(struct authority *authority, const struct principal *principal)
{
    bool admitted;

    if (!authority_needs_keys(authority))
        return true;
    pthread_mutex_lock(&authority->lock);
    admitted = is_valid(authority, principal);
    pthread_mutex_unlock(&authority->lock);
    return admitted;
}

bool authority_has_revoked(struct authority *authority, const struct principal *principal)
{
    bool revoked;

    if (!authority_needs_keys(authority))
        return false;
    pthread_mutex_lock(&authority->lock);
    revoked = !authority->is_stale && !is_valid(authority, principal);
    pthread_mutex_unlock(&authority->lock);
    return revoked;
}

bool authority_needs_keys(const struct authority *authority)
{
    return atomic_load_explicit(&authority->needs_keys, memory_order_relaxed);
}

bool authority_refresh(struct authority *authority, struct error *error)
{
    bool refreshed, changed;

    pthread_mutex_lock(&authority->refreshing);
    refreshed = update_needs_keys(authority, &changed, error);
    pthread_mutex_lock(&authority->lock);
    if (changed && authority->changed != NULL)
        authority->changed(authority->context);
    pthread_mutex_unlock(&authority->lock);
    pthread_mutex_unlock(&authority->refreshing);
    return refreshed;
}

bool authority_is_stale(struct authority *authority)
{
    bool is_stale;

    pthread_mutex_lock(&authority->lock);
    is_stale = authority->is_stale;
    pthread_mutex_unlock(&authority->lock);
    return is_stale;
}

void authority_listen(struct authority *authority, void (*changed)(void *context), void *context)
{
    pthread_mutex_lock(&authority->lock);
    authority->changed = changed;
    authority->context = context;
    pthread_mutex_unlock(&authority->lock);
}

void authority_generate_key(char out[KEY_SIZE], char digest[DIGEST_TEXT_SIZE])
{
    uint8_t bytes[32];
    size_t length = (size_t)snprintf(out, KEY_SIZE, KEY_PREFIX);

    random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        length += (size_t)snprintf(out + length, KEY_SIZE - length, "%02x", bytes[i]);
    digest_sha256_text(out, length, digest);
}
