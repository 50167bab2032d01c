/* Ids of the series that are known, in memory: a scrape names thousands of them. Thread safe.
 * Private to store/. */
#pragma once

#include <stdint.h>

struct series_cache;

struct series_cache *series_cache_create(void);
void series_cache_destroy(struct series_cache *cache); /* NULL is fine */
/* 0: not known here. */
int64_t series_cache_find(struct series_cache *cache, int64_t deployment_id, const char *name,
                          const char *labels);
void series_cache_add(struct series_cache *cache, int64_t deployment_id, const char *name,
                      const char *labels, int64_t id);
