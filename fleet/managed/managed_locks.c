/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_locks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_document.h"
#include "fleet/managed/managed_target.h"

/* A lock (struct endpoint_lock) for one deployment at one address. It reads the server's key with
 * the credential from one revision of the deployment's target. */
struct managed_lock {
    struct endpoint_lock public; /* must be first: key() casts a pointer to it */
    const struct fleet_frame *frame;
    const struct provider *provider;
    struct cloud *cloud;
    struct observed door; /* has only what managed_document_read_door reads */
    char id[ID_SIZE];
    int64_t target_revision;
    struct managed_lock *next;
    pthread_mutex_t mutex; /* protects the members below; held while the key is read */
    char key[SECRET_VALUE_SIZE];
    int64_t key_ends_ms;
};

struct managed_locks {
    const struct fleet_frame *frame;
    pthread_mutex_t mutex; /* protects the list */
    struct managed_lock *first;
};

/* ---- One lock ---- */

/* Returns false if a byte is not visible ASCII: a line break, for example, would end the header in
 * which the key is sent. */
static bool fits_header(const char *text)
{
    while (*text > 0x20 && *text < 0x7f)
        text++;
    return *text == '\0';
}

static CHECKED bool renew(struct managed_lock *lock, int64_t now_ms, struct error *error)
{
    char key[SECRET_VALUE_SIZE] = "";
    bool done = lock->provider->key(lock->cloud, &lock->door, key, error)
                && (fits_header(key)
                    || error_set(error, ERROR_UPSTREAM,
                                 "the key for %s has a byte that is not allowed in a bearer token",
                                 lock->door.name));

    if (done) {
        memcpy(lock->key, key, sizeof key);
        lock->key_ends_ms = now_ms + lock->provider->key_lasts_ms;
    }
    explicit_bzero(key, sizeof key);
    return done;
}

static CHECKED bool key(const struct endpoint_lock *public, char out[SECRET_VALUE_SIZE],
                        struct error *error)
{
    struct managed_lock *lock = (struct managed_lock *)(uintptr_t) public;
    int64_t now_ms = lock->frame->now_ms();
    bool done;

    pthread_mutex_lock(&lock->mutex);
    done = now_ms < lock->key_ends_ms || renew(lock, now_ms, error);
    if (done)
        memcpy(out, lock->key, sizeof lock->key);
    pthread_mutex_unlock(&lock->mutex);
    return done;
}

static void destroy(struct managed_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
    explicit_bzero(lock, sizeof *lock);
    free(lock);
}

/* ---- The list of locks ---- */

struct managed_locks *managed_locks_create(const struct fleet_frame *frame)
{
    struct managed_locks *locks = memory_zeroed(1, sizeof *locks);

    locks->frame = frame;
    pthread_mutex_init(&locks->mutex, NULL);
    return locks;
}

void managed_locks_destroy(struct managed_locks *locks)
{
    if (locks == NULL)
        return;
    for (struct managed_lock *lock = locks->first, *next; lock != NULL; lock = next) {
        next = lock->next;
        destroy(lock);
    }
    pthread_mutex_destroy(&locks->mutex);
    free(locks);
}

static struct managed_lock *find_known(const struct managed_locks *locks,
                                       const struct managed_lock *like)
{
    struct managed_lock *lock = locks->first;

    while (lock != NULL
           && (strcmp(lock->id, like->id) != 0 || lock->target_revision != like->target_revision
               || lock->public.sleeps != like->public.sleeps
               || strcmp(lock->door.address, like->door.address) != 0))
        lock = lock->next;
    return lock;
}

/* Returns the existing lock that has the same deployment, target revision, address and `sleeps` as
 * `like`. If there is none, adds and returns a copy of `like`. */
static const struct managed_lock *find_or_add(struct managed_locks *locks,
                                              const struct managed_lock *like)
{
    struct managed_lock *lock;

    pthread_mutex_lock(&locks->mutex);
    lock = find_known(locks, like);
    if (lock == NULL) {
        lock = memory_zeroed(1, sizeof *lock);
        *lock = *like;
        lock->next = locks->first;
        pthread_mutex_init(&lock->mutex, NULL);
        locks->first = lock;
    }
    pthread_mutex_unlock(&locks->mutex);
    return lock;
}

static CHECKED bool open_cloud(const struct fleet_frame *frame, const char *target,
                               struct managed_lock *like, struct error *error)
{
    struct managed_target found;

    if (!managed_target_find(frame, target, &found, error)
        || !frame->cloud(frame->context, &found.plain, &like->cloud, error))
        return false;
    like->provider = found.provider;
    like->target_revision = found.plain.revision;
    if (cloud_is_own(like->cloud, like->door.address))
        like->public.tls = cloud_tls(like->cloud);
    return true;
}

/* Returns true if the row's server is at this address. The address of a server that is stopped or
 * gone might belong to another server by now. */
static bool has_door(const struct fleet_managed_row *row, const json_t *observed,
                     const struct observed *door, const char *address)
{
    return address[0] != '\0' && strcmp(door->address, address) == 0
           && strcmp(row->state, "stopped") != 0 && json_get_boolean(observed, "exists", true);
}

static CHECKED bool find(struct managed_locks *locks, const struct fleet_managed_row *row,
                         const char *address, const struct endpoint_lock **out, struct error *error)
{
    struct managed_lock like = { .public.key = key, .frame = locks->frame };
    json_auto_t *door = json_loads(row->door, 0, NULL);
    json_auto_t *observed = json_loads(row->observed, 0, NULL);

    managed_document_read_door(door, &like.door);
    if (!has_door(row, observed, &like.door, address))
        return true;
    like.public.sleeps = json_get_boolean(observed, "sleeps", false);
    text_copy(like.id, sizeof like.id, row->id);
    if (!open_cloud(locks->frame, row->target, &like, error))
        return false;
    *out = &find_or_add(locks, &like)->public;
    return true;
}

bool managed_locks_find(struct managed_locks *locks, const struct deployment *deployment,
                        const struct endpoint_lock **out, struct error *error)
{
    struct fleet_managed_row row;
    bool found, done;

    *out = NULL;
    if (!fleet_managed_find(locks->frame->store, deployment->name, &row, &found, error))
        return false;
    if (!found)
        return true;
    done = find(locks, &row, deployment->url, out, error);
    fleet_managed_finish(&row);
    return done;
}
