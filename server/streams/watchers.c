/* SPDX-License-Identifier: Apache-2.0 */
#include "server/streams/watchers.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "server/http/sse_queue.h"

#define WATCHERS_MAX 2000

struct watchers {
    pthread_mutex_t lock; /* protects the rest */
    struct sse_queue **queues;
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
        sse_queue_release(watchers->queues[i]);
    pthread_mutex_destroy(&watchers->lock);
    free(watchers->queues);
    free(watchers);
}

/* Under the lock. */
static void drop_closed(struct watchers *watchers)
{
    size_t kept = 0;

    for (size_t i = 0; i < watchers->count; i++)
        if (sse_queue_is_open(watchers->queues[i]))
            watchers->queues[kept++] = watchers->queues[i];
        else
            sse_queue_release(watchers->queues[i]);
    watchers->count = kept;
}

bool watchers_add(struct watchers *watchers, struct sse_queue *sse_queue, struct error *error)
{
    bool fits;

    pthread_mutex_lock(&watchers->lock);
    drop_closed(watchers);
    fits = watchers->count < WATCHERS_MAX;
    if (fits) {
        watchers->queues =
            memory_resize(watchers->queues, watchers->count + 1, sizeof(struct sse_queue *));
        watchers->queues[watchers->count++] = sse_queue_retain(sse_queue);
    }
    pthread_mutex_unlock(&watchers->lock);
    return fits
           || error_set(error, ERROR_BUSY, "%d pages are being kept up to date: reload this one",
                        WATCHERS_MAX);
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
        sse_queue_put(watchers->queues[i], 0, "", json, length);
    pthread_mutex_unlock(&watchers->lock);
}
