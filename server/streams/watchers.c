/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/watchers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "server/http/sse_queue.h"
#include "store/ledger/principals.h"

#define WATCHERS_MAX 2000
#define PER_PRINCIPAL_MAX 200

struct watcher {
    struct sse_queue *queue;
    char principal[sizeof(((struct principal *)NULL)->name)];
    uint8_t session[DIGEST_BYTES]; /* digest of the browser's cookie; zeros: not signed in */
};

struct watchers {
    pthread_mutex_t lock; /* protects the members below */
    struct watcher *at;
    size_t count;
};

struct watchers *watchers_create(void)
{
    struct watchers *watchers = memory_zeroed(1, sizeof *watchers);

    pthread_mutex_init(&watchers->lock, NULL);
    return watchers;
}

void watchers_destroy(struct watchers *watchers)
{
    if (watchers == NULL)
        return;
    for (size_t i = 0; i < watchers->count; i++)
        sse_queue_release(watchers->at[i].queue);
    pthread_mutex_destroy(&watchers->lock);
    free(watchers->at);
    free(watchers);
}

/* The lock must be held. */
static void drop_closed(struct watchers *watchers)
{
    size_t kept = 0;

    for (size_t i = 0; i < watchers->count; i++)
        if (sse_queue_is_open(watchers->at[i].queue))
            watchers->at[kept++] = watchers->at[i];
        else
            sse_queue_release(watchers->at[i].queue);
    watchers->count = kept;
}

/* The lock must be held. */
static CHECKED bool check_room(const struct watchers *watchers, const char *principal,
                               struct error *error)
{
    size_t own = 0;

    for (size_t i = 0; i < watchers->count; i++)
        own += strcmp(watchers->at[i].principal, principal) == 0;
    if (own >= PER_PRINCIPAL_MAX)
        return error_set(error, ERROR_BUSY,
                         "%s has %d pages open that are kept up to date, "
                         "which is the maximum: close some",
                         principal, PER_PRINCIPAL_MAX);
    return watchers->count < WATCHERS_MAX
           || error_set(error, ERROR_BUSY,
                        "%d pages are kept up to date, which is the maximum: reload this page to "
                        "see changes",
                        WATCHERS_MAX);
}

/* The lock must be held. */
static void add(struct watchers *watchers, struct sse_queue *sse_queue, const char *principal,
                const uint8_t session[DIGEST_BYTES])
{
    struct watcher *added;

    watchers->at = memory_resize(watchers->at, watchers->count + 1, sizeof *watchers->at);
    added = &watchers->at[watchers->count++];
    *added = (struct watcher){ .queue = sse_queue_retain(sse_queue) };
    text_copy(added->principal, sizeof added->principal, principal);
    if (session != NULL)
        memcpy(added->session, session, DIGEST_BYTES);
}

bool watchers_add(struct watchers *watchers, struct sse_queue *sse_queue, const char *principal,
                  const uint8_t session[DIGEST_BYTES], struct error *error)
{
    bool fits;

    pthread_mutex_lock(&watchers->lock);
    drop_closed(watchers);
    fits = check_room(watchers, principal, error);
    if (fits)
        add(watchers, sse_queue, principal, session);
    pthread_mutex_unlock(&watchers->lock);
    return fits;
}

void watchers_end(struct watchers *watchers, const uint8_t session[DIGEST_BYTES])
{
    pthread_mutex_lock(&watchers->lock);
    for (size_t i = 0; i < watchers->count; i++)
        if (memcmp(watchers->at[i].session, session, DIGEST_BYTES) == 0)
            sse_queue_end(watchers->at[i].queue);
    drop_closed(watchers);
    pthread_mutex_unlock(&watchers->lock);
}

bool watchers_any(struct watchers *watchers)
{
    bool any;

    pthread_mutex_lock(&watchers->lock);
    any = watchers->count > 0;
    pthread_mutex_unlock(&watchers->lock);
    return any;
}

void watchers_notify(struct watchers *watchers, const char *json, size_t length)
{
    pthread_mutex_lock(&watchers->lock);
    drop_closed(watchers);
    for (size_t i = 0; i < watchers->count; i++)
        sse_queue_put(watchers->at[i].queue, 0, "", json, length);
    pthread_mutex_unlock(&watchers->lock);
}
