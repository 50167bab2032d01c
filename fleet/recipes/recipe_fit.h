/* SPDX-License-Identifier: Apache-2.0 */
/* Computes whether a recipe's model, and the KV cache for one request with the longest context, fit
 * into the memory of the accelerators that share one copy of the model. */
#pragma once

#include "base/llm/catalog.h"
#include "fleet/recipes/recipe.h"

struct recipe_fit {
    /* False if the memory cannot be computed, because the engine is not vLLM, the recipe names no
     * hardware, or the catalogue lacks a figure. Then `arithmetic` says why, and the sizes in bytes
     * are NAN. */
    bool known;
    bool fits;
    double usable_bytes;       /* how much of the accelerators' memory the engine can use */
    double weights_bytes;      /* on the accelerators */
    double overhead_bytes;     /* activations, graphs, the engine itself */
    double kv_bytes;           /* left for the KV cache; < 0: weights and overhead do not fit */
    double kv_bytes_per_token; /* the engine computes kv_tokens as kv_bytes / kv_bytes_per_token */
    int64_t kv_tokens;      /* how many tokens fit into kv_bytes; 0 if nothing is left for them */
    double request_bytes;   /* KV cache for one request with the longest context */
    int64_t context_tokens; /* the longest context; 0: not known */
    char arithmetic[480];   /* the figures, or why there are none, in one sentence */
};

/* Computes the memory that the recipe needs. INVALID if the recipe asks for more than its hardware
 * or model can do, for example if it splits the model over more chips than the recipe has:
 * out->known is then false, and out->arithmetic is "". */
CHECKED bool recipe_fit(const struct recipe *recipe, const struct catalog *catalog,
                        struct recipe_fit *out, struct error *error);
/* INVALID if the model is known not to fit (the message has the arithmetic), if the recipe's status
 * is "cannot_work" (the message has its reason), or if recipe_fit fails. */
CHECKED bool recipe_fit_check(const struct recipe *recipe, const struct catalog *catalog,
                              struct error *error);
