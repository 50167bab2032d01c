/* SPDX-License-Identifier: Apache-2.0 */
#include "store/series/series.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

#define BUCKETS 16384 /* a power of two */
#define LIMIT 131072  /* when the cache has this many entries, it is cleared */

struct entry {
    struct entry *next;
    int64_t deployment_id, id;
    char *name, *labels;
};

struct series_cache {
    pthread_mutex_t lock;
    uint64_t generation;
    size_t count;
    struct entry *buckets[BUCKETS];
};

struct series_cache *series_cache_create(void)
{
    struct series_cache *cache = memory_zeroed(1, sizeof *cache);

    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

static void drop(struct series_cache *cache, struct entry **slot)
{
    struct entry *entry = *slot;

    *slot = entry->next;
    free(entry->name);
    free(entry->labels);
    free(entry);
    cache->count--;
}

static void clear(struct series_cache *cache)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (cache->buckets[i] != NULL)
            drop(cache, &cache->buckets[i]);
}

void series_cache_destroy(struct series_cache *cache)
{
    if (cache == NULL)
        return;
    clear(cache);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u; /* FNV-1a */
    return hash;
}

static struct entry **bucket_of(struct series_cache *cache, int64_t deployment_id, const char *name,
                                const char *labels)
{
    uint64_t hash = mix(mix(14695981039346656037u ^ (uint64_t)deployment_id, name), labels);

    return &cache->buckets[hash & (BUCKETS - 1)];
}

static const struct entry *find(struct series_cache *cache, int64_t deployment_id, const char *name,
                                const char *labels)
{
    const struct entry *entry = *bucket_of(cache, deployment_id, name, labels);

    while (entry != NULL
           && (entry->deployment_id != deployment_id || strcmp(entry->name, name) != 0
               || strcmp(entry->labels, labels) != 0))
        entry = entry->next;
    return entry;
}

int64_t series_cache_find(struct series_cache *cache, int64_t deployment_id, const char *name,
                          const char *labels)
{
    pthread_mutex_lock(&cache->lock);
    const struct entry *entry = find(cache, deployment_id, name, labels);
    int64_t id = entry == NULL ? 0 : entry->id;
    pthread_mutex_unlock(&cache->lock);
    return id;
}

uint64_t series_cache_generation(struct series_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t generation = cache->generation;
    pthread_mutex_unlock(&cache->lock);
    return generation;
}

void series_cache_forget(struct series_cache *cache, int64_t deployment_id)
{
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        struct entry **slot = &cache->buckets[i];

        while (*slot != NULL) {
            if ((*slot)->deployment_id == deployment_id)
                drop(cache, slot);
            else
                slot = &(*slot)->next;
        }
    }
    cache->generation++;
    pthread_mutex_unlock(&cache->lock);
}

void series_cache_add(struct series_cache *cache, uint64_t generation, int64_t deployment_id,
                      const char *name, const char *labels, int64_t id)
{
    pthread_mutex_lock(&cache->lock);
    if (generation == cache->generation && find(cache, deployment_id, name, labels) == NULL) {
        if (cache->count == LIMIT)
            clear(cache);
        struct entry **bucket = bucket_of(cache, deployment_id, name, labels);
        struct entry *entry = memory_zeroed(1, sizeof *entry);
        *entry = (struct entry){
            .next = *bucket,
            .deployment_id = deployment_id,
            .id = id,
            .name = memory_copy_text(name),
            .labels = memory_copy_text(labels),
        };
        *bucket = entry;
        cache->count++;
    }
    pthread_mutex_unlock(&cache->lock);
}
