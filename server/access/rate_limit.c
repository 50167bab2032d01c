#include "server/access/rate_limit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

#define CHAINS 1024

struct user {
    struct user *next;
    char name[QUOTA_NAME_SIZE];
    int64_t in_use;
    double spent; /* tokens, at the time below; they come back as it passes */
    int64_t counted_ns;
};

struct quota {
    struct quota_limits limits;
    pthread_mutex_t lock;
    struct user *chains[CHAINS];
};

struct quota *quota_create(struct quota_limits limits)
{
    struct quota *quota = memory_zeroed(1, sizeof *quota);

    quota->limits = limits;
    pthread_mutex_init(&quota->lock, NULL);
    return quota;
}

void quota_destroy(struct quota *quota)
{
    if (quota == NULL)
        return;
    for (size_t i = 0; i < CHAINS; i++)
        while (quota->chains[i] != NULL) {
            struct user *user = quota->chains[i];

            quota->chains[i] = user->next;
            free(user);
        }
    pthread_mutex_destroy(&quota->lock);
    free(quota);
}

/* FNV-1a. */
static struct user **chain_of(struct quota *quota, const char *name)
{
    uint32_t hash = 2166136261U;

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619U;
    return &quota->chains[hash % CHAINS];
}

/* Its place in the chain; NULL there: it is new. */
static struct user **find(struct quota *quota, const char *name)
{
    struct user **at = chain_of(quota, name);

    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static struct user *find_or_add(struct quota *quota, const char *name)
{
    struct user **at = find(quota, name);

    if (*at == NULL) {
        *at = memory_zeroed(1, sizeof **at);
        text_copy((*at)->name, sizeof(*at)->name, name);
    }
    return *at;
}

bool quota_enter(struct quota *quota, const char *name)
{
    struct user *user;
    bool free_place;

    if (quota->limits.at_once == 0)
        return true;
    pthread_mutex_lock(&quota->lock);
    user = find_or_add(quota, name);
    free_place = user->in_use < quota->limits.at_once;
    user->in_use += free_place;
    pthread_mutex_unlock(&quota->lock);
    return free_place;
}

/* Who uses nothing is forgotten. */
void quota_leave(struct quota *quota, const char *name)
{
    struct user **at, *user;

    if (quota->limits.at_once == 0)
        return;
    pthread_mutex_lock(&quota->lock);
    at = find(quota, name);
    user = *at;
    if (user != NULL && --user->in_use == 0 && user->spent == 0) {
        *at = user->next;
        free(user);
    }
    pthread_mutex_unlock(&quota->lock);
}

/* Tokens that were spent come back as time passes. */
static void refill(const struct quota *quota, struct user *user, int64_t now_ns)
{
    double back = (double)(now_ns - user->counted_ns) * (double)quota->limits.per_second / 1e9;

    if (back < 0)
        return; /* another thread was faster */
    user->counted_ns = now_ns;
    user->spent = user->spent > back ? user->spent - back : 0;
}

bool quota_spend(struct quota *quota, const char *name, int64_t now_ns, int64_t *wait_ms)
{
    return quota_spend_many(quota, name, 1, now_ns, wait_ms);
}

bool quota_spend_many(struct quota *quota, const char *name, int64_t count, int64_t now_ns,
                      int64_t *wait_ms)
{
    struct user *user;
    double left, wanted = (double)count;

    if (quota->limits.per_second == 0)
        return true;
    pthread_mutex_lock(&quota->lock);
    user = find_or_add(quota, name);
    refill(quota, user, now_ns);
    left = (double)quota->limits.burst - user->spent;
    if (left >= wanted)
        user->spent += wanted;
    pthread_mutex_unlock(&quota->lock);
    *wait_ms = left >= wanted
                   ? 0
                   : (int64_t)((wanted - left) * 1000 / (double)quota->limits.per_second) + 1;
    return left >= wanted;
}

void quota_charge(struct quota *quota, const char *name, int64_t count, int64_t now_ns)
{
    struct user *user;

    if (quota->limits.per_second == 0)
        return;
    pthread_mutex_lock(&quota->lock);
    user = find_or_add(quota, name);
    refill(quota, user, now_ns);
    user->spent += (double)count;
    pthread_mutex_unlock(&quota->lock);
}
