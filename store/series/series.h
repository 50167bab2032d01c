/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the ids of known series in memory, because a scrape can name thousands of series. Also
 * deletes series that are no longer used. Thread-safe. Private to store/. */
#pragma once

#include <stdint.h>

#include "base/core/error.h"

struct store;
struct series_cache;

struct series_cache *series_cache_create(void);
void series_cache_destroy(struct series_cache *cache); /* NULL is fine */
/* Returns the series' id; 0: the cache does not have it. */
int64_t series_cache_find(struct series_cache *cache, int64_t deployment_id, const char *name,
                          const char *labels);
/* Returns a number that each series_cache_forget increments. When the number has changed, an id
 * that was found earlier can belong to another series, or to none. */
uint64_t series_cache_generation(struct series_cache *cache);
/* Adds an id, unless the cache already has one for this series or `generation` is no longer the
 * current one. */
void series_cache_add(struct series_cache *cache, uint64_t generation, int64_t deployment_id,
                      const char *name, const char *labels, int64_t id);
/* Forgets all ids of a deployment's series. */
void series_cache_forget(struct series_cache *cache, int64_t deployment_id);

/* Deletes series that no stored scrape and no block uses, in one transaction per deployment. A
 * series can be kept for up to a day longer than necessary. */
CHECKED bool series_delete_unused(struct store *store, struct error *error);
