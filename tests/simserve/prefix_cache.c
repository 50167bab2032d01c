/* SPDX-License-Identifier: Apache-2.0 */
/* A block's key is a hash over its tokens and the key of the block before it, so equal keys mean
 * equal prefixes. Keys are stored in sets of eight, each with the time of its last use. */

#include "tests/simserve/prefix_cache.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "base/core/random.h"

#define WAYS 8

struct entry {
    uint64_t key;  /* 0 = free */
    uint64_t used; /* the cache's clock at the last use */
};

struct prefix_cache {
    size_t sets;
    uint64_t clock; /* counts uses of blocks */
    uint64_t epoch; /* how many times the cache was cleared; part of every key */
    struct entry entries[];
};

struct prefix_cache *prefix_cache_create(size_t blocks)
{
    size_t sets = (blocks + WAYS - 1) / WAYS;
    struct prefix_cache *cache =
        memory_zeroed(1, sizeof *cache + sets * WAYS * sizeof cache->entries[0]);

    cache->sets = sets;
    return cache;
}

void prefix_cache_destroy(struct prefix_cache *cache)
{
    free(cache);
}

void prefix_cache_clear(struct prefix_cache *cache)
{
    cache->epoch++; /* old keys no longer match, and age out */
}

static uint64_t block_key(uint64_t parent, const uint32_t *ids)
{
    uint64_t key = parent;

    for (size_t i = 0; i < BLOCK_TOKENS; i += 2)
        key = random_mix(key, (uint64_t)ids[i] << 32 | ids[i + 1]);
    return key ? key : 1;
}

/* Stores the block, and returns whether it was already stored. */
static bool touch(struct prefix_cache *cache, uint64_t key)
{
    struct entry *set = &cache->entries[key % cache->sets * WAYS];
    struct entry *oldest = set;

    cache->clock++;
    for (struct entry *entry = set; entry < set + WAYS; entry++) {
        if (entry->key == key) {
            entry->used = cache->clock;
            return true;
        }
        if (entry->used < oldest->used)
            oldest = entry;
    }
    *oldest = (struct entry){ key, cache->clock };
    return false;
}

size_t prefix_cache_use(struct prefix_cache *cache, uint64_t salt, const uint32_t *ids,
                        size_t count)
{
    size_t usable = count > 0 ? (count - 1) / BLOCK_TOKENS : 0;
    size_t hits = 0;
    bool all_cached = true;
    uint64_t key = random_mix(cache->epoch, salt);

    for (size_t block = 0; block < count / BLOCK_TOKENS; block++) {
        key = block_key(key, ids + block * BLOCK_TOKENS);
        all_cached = touch(cache, key) && all_cached;
        if (all_cached && block < usable)
            hits++;
    }
    return hits * BLOCK_TOKENS;
}
