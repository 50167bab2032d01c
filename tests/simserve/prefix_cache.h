/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of prompt tokens that the model has in its KV cache, as in vLLM's automatic prefix
 * caching. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BLOCK_TOKENS 16

struct prefix_cache;

/* Creates a cache of about `blocks` blocks, in sets of eight: a full set replaces its least
 * recently used block. */
struct prefix_cache *prefix_cache_create(size_t blocks);
void prefix_cache_destroy(struct prefix_cache *cache);
void prefix_cache_clear(struct prefix_cache *cache);
/* Returns how many tokens at the beginning of the prompt are cached. This counts complete blocks
 * only, and never the last token, which vLLM always computes. Stores all complete blocks of the
 * prompt. */
size_t prefix_cache_use(struct prefix_cache *cache, uint64_t salt, const uint32_t *ids,
                        size_t count);
