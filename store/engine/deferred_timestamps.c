/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/deferred_timestamps.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/text.h"

#define SLOTS 4096        /* a power of two */
#define LIMIT (SLOTS / 2) /* maximum number of slots in use */

struct timestamp {
    const char *statement; /* NULL: the slot is free */
    char id[ID_SIZE];
    int64_t at_ms;
};

struct deferred_timestamps {
    struct database *database;
    pthread_mutex_t lock;
    size_t count;
    bool is_queued;          /* a flush of the slots is queued */
    struct timestamp *slots; /* a hash table */
};

struct deferred_timestamps *deferred_timestamps_create(struct database *database)
{
    struct deferred_timestamps *deferred = memory_zeroed(1, sizeof *deferred);

    deferred->database = database;
    deferred->slots = memory_zeroed(SLOTS, sizeof *deferred->slots);
    pthread_mutex_init(&deferred->lock, NULL);
    return deferred;
}

void deferred_timestamps_destroy(struct deferred_timestamps *deferred)
{
    if (deferred == NULL)
        return;
    pthread_mutex_destroy(&deferred->lock);
    free(deferred->slots);
    free(deferred);
}

/* Replaces the slots with empty ones, and returns the old ones. */
static struct timestamp *swap_slots(struct deferred_timestamps *deferred)
{
    struct timestamp *old = deferred->slots;

    deferred->slots = memory_zeroed(SLOTS, sizeof *deferred->slots);
    deferred->count = 0;
    deferred->is_queued = false;
    return old;
}

/* The slots that one transaction writes. */
struct flush {
    struct deferred_timestamps *deferred;
    struct timestamp *slots; /* NULL: the transaction has not run yet */
};

static CHECKED bool apply_timestamps(struct sql_connection *connection, void *context,
                                     struct error *error)
{
    struct flush *flush = context;

    pthread_mutex_lock(&flush->deferred->lock);
    if (flush->slots == NULL)
        flush->slots = swap_slots(flush->deferred);
    pthread_mutex_unlock(&flush->deferred->lock);
    for (size_t i = 0; i < SLOTS; i++) {
        const struct timestamp *timestamp = &flush->slots[i];

        if (timestamp->statement == NULL)
            continue;
        SQL_AUTO sql = sql_begin(connection, timestamp->statement);
        sql_bind_text(&sql, 1, timestamp->id);
        sql_bind_integer(&sql, 2, timestamp->at_ms);
        if (!sql_run(&sql, error))
            return false;
    }
    return true;
}

static size_t slot_of(const struct deferred_timestamps *deferred, const char *statement,
                      const char *id)
{
    uint64_t hash = 14695981039346656037u ^ (uintptr_t)statement; /* FNV-1a */

    for (const char *c = id; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t slot = hash & (SLOTS - 1);
    while (deferred->slots[slot].statement != NULL
           && (deferred->slots[slot].statement != statement
               || strcmp(deferred->slots[slot].id, id) != 0))
        slot = (slot + 1) & (SLOTS - 1);
    return slot;
}

static void release(void *context)
{
    struct flush *flush = context;

    free(flush->slots);
    free(flush);
}

/* Queues a flush. If the writer refuses it, the next call of deferred_timestamps_note tries
 * again. */
static void defer(struct deferred_timestamps *deferred)
{
    struct flush *flush = memory_zeroed(1, sizeof *flush);
    struct error ignored;

    flush->deferred = deferred;
    if (database_defer_take(deferred->database, apply_timestamps, flush, release, &ignored))
        return;
    pthread_mutex_lock(&deferred->lock);
    deferred->is_queued = false;
    pthread_mutex_unlock(&deferred->lock);
}

void deferred_timestamps_note(struct deferred_timestamps *deferred, const char *statement,
                              const char *id, int64_t at_ms)
{
    pthread_mutex_lock(&deferred->lock);
    struct timestamp *timestamp = &deferred->slots[slot_of(deferred, statement, id)];
    if (timestamp->statement == NULL && deferred->count < LIMIT) {
        deferred->count++;
        timestamp->statement = statement;
        text_copy(timestamp->id, sizeof timestamp->id, id);
    }
    if (timestamp->statement != NULL && timestamp->at_ms < at_ms)
        timestamp->at_ms = at_ms;
    bool was_queued = deferred->is_queued;
    deferred->is_queued = true;
    pthread_mutex_unlock(&deferred->lock);
    if (!was_queued)
        defer(deferred);
}
