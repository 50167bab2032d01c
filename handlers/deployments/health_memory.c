/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/deployments/health_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/thread.h"

/* How often a waiting call checks whether it was cancelled. */
#define CHECK_EVERY_NS (50 * 1000000)
#define SECOND_NS INT64_C(1000000000)

struct remembered {
    struct remembered *next;
    int64_t deployment_id, revision;
    bool asking; /* a call has the turn, and is querying the model */
    /* Monotonic time at which `structured` and `text` were stored; 0: no answer is stored. */
    int64_t stored_ns;
    json_t *structured;
    struct text text;
};

struct health_memory {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct remembered *first;
};

struct health_memory *health_memory_create(void)
{
    struct health_memory *memory = memory_zeroed(1, sizeof *memory);

    pthread_mutex_init(&memory->lock, NULL);
    thread_condition_init(&memory->changed);
    return memory;
}

static void forget(struct remembered **at)
{
    struct remembered *entry = *at;

    *at = entry->next;
    json_decref(entry->structured);
    text_finish(&entry->text);
    free(entry);
}

void health_memory_destroy(struct health_memory *memory)
{
    if (memory == NULL)
        return;
    while (memory->first != NULL)
        forget(&memory->first);
    pthread_cond_destroy(&memory->changed);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static bool is_fresh(const struct remembered *entry, int64_t now_ns)
{
    return entry->stored_ns != 0 && now_ns - entry->stored_ns < HEALTH_KEPT_S * SECOND_NS;
}

/* Finds the entry for this revision of the deployment, or adds one. Removes every other
 * entry that has no recent answer and for which no call has the turn. */
static struct remembered *find(struct health_memory *memory, const struct deployment *deployment)
{
    struct remembered *found = NULL;
    int64_t now_ns = clock_monotonic_ns();

    for (struct remembered **at = &memory->first; *at != NULL;) {
        if ((*at)->deployment_id == deployment->id && (*at)->revision == deployment->revision)
            found = *at;
        else if (!(*at)->asking && !is_fresh(*at, now_ns)) {
            forget(at);
            continue;
        }
        at = &(*at)->next;
    }
    if (found != NULL)
        return found;
    found = memory_zeroed(1, sizeof *found);
    found->deployment_id = deployment->id;
    found->revision = deployment->revision;
    found->next = memory->first;
    memory->first = found;
    return found;
}

static void wait_a_little(struct health_memory *memory)
{
    int64_t until_ns = clock_monotonic_ns() + CHECK_EVERY_NS;
    const struct timespec until = { .tv_sec = until_ns / SECOND_NS,
                                    .tv_nsec = until_ns % SECOND_NS };

    pthread_cond_timedwait(&memory->changed, &memory->lock, &until);
}

enum health_turn health_memory_get(struct health_memory *memory,
                                   const struct deployment *deployment,
                                   bool (*cancelled)(void *context), void *context,
                                   struct answer *answer, double *age_s)
{
    enum health_turn turn = HEALTH_ASK;
    struct remembered *entry;

    pthread_mutex_lock(&memory->lock);
    for (entry = find(memory, deployment); entry->asking; entry = find(memory, deployment)) {
        if (cancelled(context)) {
            turn = HEALTH_CANCELLED;
            break;
        }
        wait_a_little(memory);
    }
    if (turn == HEALTH_ASK && is_fresh(entry, clock_monotonic_ns())) {
        turn = HEALTH_KNOWN;
        answer->structured = json_deep_copy(entry->structured);
        text_add_bytes(&answer->text, text_string(&entry->text), entry->text.length);
        *age_s = (double)(clock_monotonic_ns() - entry->stored_ns) / 1e9;
    }
    if (turn == HEALTH_ASK)
        entry->asking = true;
    pthread_mutex_unlock(&memory->lock);
    return turn;
}

void health_memory_set(struct health_memory *memory, const struct deployment *deployment,
                       const struct answer *answer)
{
    struct remembered *entry;

    pthread_mutex_lock(&memory->lock);
    entry = find(memory, deployment);
    entry->stored_ns = clock_monotonic_ns();
    json_decref(entry->structured);
    entry->structured = json_deep_copy(answer->structured);
    text_clear(&entry->text);
    text_add_bytes(&entry->text, text_string(&answer->text), answer->text.length);
    pthread_mutex_unlock(&memory->lock);
}

void health_memory_end_turn(struct health_memory *memory, const struct deployment *deployment)
{
    pthread_mutex_lock(&memory->lock);
    find(memory, deployment)->asking = false;
    pthread_cond_broadcast(&memory->changed);
    pthread_mutex_unlock(&memory->lock);
}
