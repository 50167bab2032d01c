/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/rate_limit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

#define CHAINS 1024

struct user {
    struct user *next;
    char name[RATE_LIMIT_NAME_SIZE];
    int64_t in_use; /* places that the user occupies */
    /* How many spent permits had not come back yet at the time counted_ns. */
    double spent;
    int64_t counted_ns; /* monotonic */
};

struct rate_limit {
    struct rate_limit_limits limits;
    pthread_mutex_t lock;
    struct user *chains[CHAINS];
};

struct rate_limit *rate_limit_create(struct rate_limit_limits limits)
{
    struct rate_limit *rate_limit = memory_zeroed(1, sizeof *rate_limit);

    rate_limit->limits = limits;
    pthread_mutex_init(&rate_limit->lock, NULL);
    return rate_limit;
}

void rate_limit_destroy(struct rate_limit *rate_limit)
{
    if (rate_limit == NULL)
        return;
    for (size_t i = 0; i < CHAINS; i++)
        while (rate_limit->chains[i] != NULL) {
            struct user *user = rate_limit->chains[i];

            rate_limit->chains[i] = user->next;
            free(user);
        }
    pthread_mutex_destroy(&rate_limit->lock);
    free(rate_limit);
}

/* Finds the chain by the name's hash (FNV-1a). */
static struct user **chain_of(struct rate_limit *rate_limit, const char *name)
{
    uint32_t hash = 2166136261U;

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619U;
    return &rate_limit->chains[hash % CHAINS];
}

/* Returns the address of the pointer to the name's entry; the pointer is NULL if the name is new.
 */
static struct user **find(struct rate_limit *rate_limit, const char *name)
{
    struct user **at = chain_of(rate_limit, name);

    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static struct user *find_or_add(struct rate_limit *rate_limit, const char *name)
{
    struct user **at = find(rate_limit, name);

    if (*at == NULL) {
        *at = memory_zeroed(1, sizeof **at);
        text_copy((*at)->name, sizeof(*at)->name, name);
    }
    return *at;
}

size_t rate_limit_count(struct rate_limit *rate_limit)
{
    size_t count = 0;

    pthread_mutex_lock(&rate_limit->lock);
    for (size_t i = 0; i < CHAINS; i++)
        for (const struct user *user = rate_limit->chains[i]; user != NULL; user = user->next)
            count++;
    pthread_mutex_unlock(&rate_limit->lock);
    return count;
}

bool rate_limit_enter(struct rate_limit *rate_limit, const char *name)
{
    struct user *user;
    bool has_room;

    if (rate_limit->limits.at_once == 0)
        return true;
    pthread_mutex_lock(&rate_limit->lock);
    user = find_or_add(rate_limit, name);
    has_room = user->in_use < rate_limit->limits.at_once;
    user->in_use += has_room;
    pthread_mutex_unlock(&rate_limit->lock);
    return has_room;
}

/* Also removes the user's entry, if the user occupies no other place and its `spent` is 0. */
void rate_limit_leave(struct rate_limit *rate_limit, const char *name)
{
    struct user **at, *user;

    if (rate_limit->limits.at_once == 0)
        return;
    pthread_mutex_lock(&rate_limit->lock);
    at = find(rate_limit, name);
    user = *at;
    if (user != NULL && --user->in_use == 0 && user->spent == 0) {
        *at = user->next;
        free(user);
    }
    pthread_mutex_unlock(&rate_limit->lock);
}

/* Gives the user back the permits that have accrued since the last call for this user. */
static void refill(const struct rate_limit *rate_limit, struct user *user, int64_t now_ns)
{
    double back = (double)(now_ns - user->counted_ns) * (double)rate_limit->limits.per_second / 1e9;

    if (back < 0)
        return; /* another thread called with a later time */
    user->counted_ns = now_ns;
    user->spent = user->spent > back ? user->spent - back : 0;
}

/* Removes from a chain the users that occupy no place and whose spent permits have all come back: a
 * new entry would be identical. */
static void forget_idle(struct rate_limit *rate_limit, struct user **at, int64_t now_ns)
{
    while (*at != NULL) {
        struct user *user = *at;

        refill(rate_limit, user, now_ns);
        if (user->in_use > 0 || user->spent > 0) {
            at = &user->next;
            continue;
        }
        *at = user->next;
        free(user);
    }
}

/* Finds or adds the user, and refills its permits. There can be any number of names, such as client
 * addresses, so idle users are removed from the chain before a new one is added. */
static struct user *find_refilled(struct rate_limit *rate_limit, const char *name, int64_t now_ns)
{
    struct user *user;

    if (*find(rate_limit, name) == NULL)
        forget_idle(rate_limit, chain_of(rate_limit, name), now_ns);
    user = find_or_add(rate_limit, name);
    refill(rate_limit, user, now_ns);
    return user;
}

bool rate_limit_spend(struct rate_limit *rate_limit, const char *name, int64_t now_ns,
                      int64_t *wait_ms)
{
    return rate_limit_spend_many(rate_limit, name, 1, now_ns, wait_ms);
}

bool rate_limit_spend_many(struct rate_limit *rate_limit, const char *name, int64_t count,
                           int64_t now_ns, int64_t *wait_ms)
{
    struct user *user;
    double left, wanted = (double)count;

    if (rate_limit->limits.per_second == 0)
        return true;
    pthread_mutex_lock(&rate_limit->lock);
    user = find_refilled(rate_limit, name, now_ns);
    left = (double)rate_limit->limits.burst - user->spent;
    if (left >= wanted)
        user->spent += wanted;
    pthread_mutex_unlock(&rate_limit->lock);
    *wait_ms = left >= wanted
                   ? 0
                   : (int64_t)((wanted - left) * 1000 / (double)rate_limit->limits.per_second) + 1;
    return left >= wanted;
}

void rate_limit_charge(struct rate_limit *rate_limit, const char *name, int64_t count,
                       int64_t now_ns)
{
    struct user *user;

    if (rate_limit->limits.per_second == 0)
        return;
    pthread_mutex_lock(&rate_limit->lock);
    user = find_refilled(rate_limit, name, now_ns);
    user->spent += (double)count;
    pthread_mutex_unlock(&rate_limit->lock);
}
