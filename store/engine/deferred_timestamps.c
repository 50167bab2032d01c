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

struct touches {
    struct database *database;
    pthread_mutex_t lock;
    size_t count;
    struct touch *slots;
};

struct touches *touches_create(struct database *database)
{
    struct touches *touches = memory_zeroed(1, sizeof *touches);

    touches->database = database;
    touches->slots = memory_zeroed(SLOTS, sizeof *touches->slots);
    pthread_mutex_init(&touches->lock, NULL);
    return touches;
}

void touches_destroy(struct touches *touches)
{
    if (touches == NULL)
        return;
    pthread_mutex_destroy(&touches->lock);
    free(touches->slots);
    free(touches);
}

/* The table at once, and an empty one in its place. */
static struct touch *take_all(struct touches *touches)
{
    struct touch *taken = touches->slots;

    touches->slots = memory_zeroed(SLOTS, sizeof *touches->slots);
    touches->count = 0;
    return taken;
}

static bool apply_touches(struct connection *connection, void *context, struct error *error)
{
    struct touches *touches = context;

    pthread_mutex_lock(&touches->lock);
    FREE_AUTO struct touch *taken = take_all(touches);
    pthread_mutex_unlock(&touches->lock);
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

static size_t slot_of(const struct touches *touches, const char *statement, const char *id)
{
    uint64_t hash = 14695981039346656037u ^ (uintptr_t)statement; /* FNV-1a */

    for (const char *c = id; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t slot = hash & (SLOTS - 1);
    while (touches->slots[slot].statement != NULL
           && (touches->slots[slot].statement != statement
               || strcmp(touches->slots[slot].id, id) != 0))
        slot = (slot + 1) & (SLOTS - 1);
    return slot;
}

static void keep(void *context)
{
    (void)context; /* the table stays ours */
}

void touches_note(struct touches *touches, const char *statement, const char *id, int64_t at_ms)
{
    struct error ignored;
    bool first = false;

    pthread_mutex_lock(&touches->lock);
    struct touch *touch = &touches->slots[slot_of(touches, statement, id)];
    if (touch->statement == NULL && touches->count < LIMIT) {
        first = touches->count++ == 0;
        touch->statement = statement;
        text_copy(touch->id, sizeof touch->id, id);
    }
    if (touch->statement != NULL && touch->at_ms < at_ms)
        touch->at_ms = at_ms;
    pthread_mutex_unlock(&touches->lock);
    if (first)
        database_defer_take(touches->database, apply_touches, touches, keep, &ignored);
}
