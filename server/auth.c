#include "server/auth.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "server/key_marker.h"

#define SLOTS 1024
#define REMEMBER_MS 1000

/* What the store said of a digest; a slot per hash, the newer one wins. */
struct slot {
    uint8_t digest[DIGEST_BYTES];
    int64_t until_ms; /* monotonic; 0: empty */
    struct principal principal;
};

struct authority {
    struct store *store;
    char *data_folder;
    enum { MODE_AUTO, MODE_KEYS, MODE_NONE } mode;
    atomic_bool needs_keys;
    pthread_mutex_t lock; /* over the rest */
    void (*changed)(void *context);
    void *context;
    struct slot slots[SLOTS];
};

/* With `auto` the first key locks the door for good: neither revoking the last one nor losing the
 * database opens it. */
static bool update_needs_keys(struct authority *authority, struct error *error)
{
    struct api_key *keys = NULL;
    size_t count = 0;

    if (!key_list(authority->store, &keys, &count, error))
        return false;
    free(keys);
    if (count > 0)
        key_marker_write(authority->data_folder);
    atomic_store(&authority->needs_keys,
                 authority->mode == MODE_KEYS
                     || (authority->mode == MODE_AUTO
                         && (count > 0 || key_marker_exists(authority->data_folder))));
    if (authority->mode != MODE_AUTO || count > 0 || !atomic_load(&authority->needs_keys))
        return true;
    return error_set(error, ERROR_CONFLICT,
                     "the data folder %.200s had API keys and has none now, so that it is not the "
                     "one it was: restore it from a backup, add a key with `opsbrain key add NAME "
                     "--role admin`, or start with --auth keys; `opsbrain key reset` lets anybody "
                     "on this machine in without a key",
                     authority->data_folder);
}

static bool check_binding(struct authority *authority, bool loopback, struct error *error)
{
    bool any = false;

    if (!key_any(authority->store, &any, error))
        return false;
    if (!any && atomic_load(&authority->needs_keys))
        log_warning("no API key is valid: add one with `opsbrain key add NAME --role admin`");
    if (loopback || authority->mode == MODE_KEYS || (any && authority->mode == MODE_AUTO))
        return true;
    if (authority->mode == MODE_NONE)
        return error_set(error, ERROR_INVALID,
                         "auth is none, but listen is not loopback: anyone on the network could do "
                         "anything; set OPSBRAIN_AUTH to auto or keys, or OPSBRAIN_LISTEN to "
                         "127.0.0.1:PORT");
    return error_set(error, ERROR_INVALID,
                     "listen is not loopback and there is no valid API key: add one with `opsbrain "
                     "key add NAME --role admin` (same OPSBRAIN_DATA), set OPSBRAIN_AUTH=keys to "
                     "start without one, or set OPSBRAIN_LISTEN to 127.0.0.1:PORT");
}

bool authority_create(struct store *store, const char *data_folder, const char *mode, bool loopback,
                      struct authority **out, struct error *error)
{
    struct authority *authority = memory_zeroed(1, sizeof *authority);

    authority->store = store;
    authority->data_folder = memory_copy_text(data_folder);
    authority->mode = strcmp(mode, "keys") == 0   ? MODE_KEYS
                      : strcmp(mode, "none") == 0 ? MODE_NONE
                                                  : MODE_AUTO;
    atomic_init(&authority->needs_keys, true);
    pthread_mutex_init(&authority->lock, NULL);
    if (!update_needs_keys(authority, error) || !check_binding(authority, loopback, error)) {
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
    pthread_mutex_destroy(&authority->lock);
    free(authority->data_folder);
    free(authority);
}

static struct slot *slot_of(struct authority *authority, const uint8_t digest[DIGEST_BYTES])
{
    return &authority->slots[(digest[0] << 8 | digest[1]) % SLOTS];
}

static bool recall(struct authority *authority, const uint8_t digest[DIGEST_BYTES], int64_t now_ms,
                   struct principal *out)
{
    const struct slot *slot = slot_of(authority, digest);
    bool found;

    pthread_mutex_lock(&authority->lock);
    found = slot->until_ms > now_ms && memcmp(slot->digest, digest, DIGEST_BYTES) == 0;
    if (found)
        *out = slot->principal;
    pthread_mutex_unlock(&authority->lock);
    return found;
}

static void remember(struct authority *authority, const uint8_t digest[DIGEST_BYTES],
                     int64_t until_ms, const struct principal *principal)
{
    struct slot *slot = slot_of(authority, digest);

    pthread_mutex_lock(&authority->lock);
    memcpy(slot->digest, digest, DIGEST_BYTES);
    slot->until_ms = until_ms;
    slot->principal = *principal;
    pthread_mutex_unlock(&authority->lock);
}

/* No longer than the key is valid. */
static int64_t memory_ms(const struct principal *found)
{
    int64_t left_ms = found->key_expires_ms - clock_utc_ms();

    return found->key_expires_ms != 0 && left_ms < REMEMBER_MS ? left_ms : REMEMBER_MS;
}

static bool find(struct authority *authority, const char *key, struct principal *out,
                 struct error *error)
{
    int64_t now_ms = clock_monotonic_ns() / 1000000;
    uint8_t digest[DIGEST_BYTES];
    struct principal found;

    digest_sha256(key, strlen(key), digest);
    if (recall(authority, digest, now_ms, out))
        return true;
    if (!key_find(authority->store, digest, clock_utc_ms(), &found, error))
        return false;
    remember(authority, digest, now_ms + memory_ms(&found), &found);
    *out = found;
    return true;
}

bool authority_check(struct authority *authority, const char *authorization, struct principal *out,
                     struct error *error)
{
    static const struct principal local = { .name = "local", .role = ROLE_ADMIN };

    if (!atomic_load(&authority->needs_keys)) {
        *out = local;
        return true;
    }
    if (authorization == NULL)
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "an API key is needed: send the header Authorization: Bearer " KEY_PREFIX
                         "...");
    if (strncasecmp(authorization, "Bearer ", 7) != 0)
        return error_set(error, ERROR_UNAUTHENTICATED,
                         "Authorization must be: Bearer " KEY_PREFIX "...");
    return find(authority, authorization + 7 + strspn(authorization + 7, " "), out, error);
}

bool authority_needs_keys(const struct authority *authority)
{
    return atomic_load_explicit(&authority->needs_keys, memory_order_relaxed);
}

bool authority_refresh(struct authority *authority, struct error *error)
{
    pthread_mutex_lock(&authority->lock);
    for (size_t i = 0; i < SLOTS; i++)
        authority->slots[i].until_ms = 0;
    pthread_mutex_unlock(&authority->lock);
    if (!update_needs_keys(authority, error))
        return false;
    pthread_mutex_lock(&authority->lock);
    if (authority->changed != NULL)
        authority->changed(authority->context);
    pthread_mutex_unlock(&authority->lock);
    return true;
}

void authority_listen(struct authority *authority, void (*changed)(void *context), void *context)
{
    pthread_mutex_lock(&authority->lock);
    authority->changed = changed;
    authority->context = context;
    pthread_mutex_unlock(&authority->lock);
}

void key_generate(char out[KEY_SIZE], char digest[DIGEST_TEXT_SIZE])
{
    uint8_t bytes[32];
    size_t length = (size_t)snprintf(out, KEY_SIZE, KEY_PREFIX);

    random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        length += (size_t)snprintf(out + length, KEY_SIZE - length, "%02x", bytes[i]);
    digest_sha256_text(out, length, digest);
}
