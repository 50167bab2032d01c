#include "store/engine/deferred_timestamps.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/core/text.h"

#define SLOTS 4096 /* a power of two */
#define LIMIT (SLOTS / 2)

struct touch {
    const char *statement; /* NULL: free */
    char id[ID_SIZE];
    int64_t at_ms;
};

struct deferred_timestamps {
    struct database *database;
    pthread_mutex_t lock;
    size_t count;
    struct touch *slots;
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

/* The table at once, and an empty one in its place. */
static struct touch *take_all(struct deferred_timestamps *deferred)
{
    struct touch *taken = deferred->slots;

    deferred->slots = memory_zeroed(SLOTS, sizeof *deferred->slots);
    deferred->count = 0;
    return taken;
}

static bool apply_touches(struct sql_connection *connection, void *context, struct error *error)
{
    struct deferred_timestamps *deferred = context;

    pthread_mutex_lock(&deferred->lock);
    FREE_AUTO struct touch *taken = take_all(deferred);
    pthread_mutex_unlock(&deferred->lock);
    for (size_t i = 0; i < SLOTS; i++) {
        if (taken[i].statement == NULL)
            continue;
        SQL_AUTO sql = sql_begin(connection, taken[i].statement);
        sql_bind_text(&sql, 1, taken[i].id);
        sql_bind_integer(&sql, 2, taken[i].at_ms);
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

static void keep(void *context)
{
    (void)context; /* the table stays ours */
}

void deferred_timestamps_note(struct deferred_timestamps *deferred, const char *statement,
                              const char *id, int64_t at_ms)
{
    struct error ignored;
    bool first = false;

    pthread_mutex_lock(&deferred->lock);
    struct touch *touch = &deferred->slots[slot_of(deferred, statement, id)];
    if (touch->statement == NULL && deferred->count < LIMIT) {
        first = deferred->count++ == 0;
        touch->statement = statement;
        text_copy(touch->id, sizeof touch->id, id);
    }
    if (touch->statement != NULL && touch->at_ms < at_ms)
        touch->at_ms = at_ms;
    pthread_mutex_unlock(&deferred->lock);
    if (first)
        database_defer_take(deferred->database, apply_touches, deferred, keep, &ignored);
}
