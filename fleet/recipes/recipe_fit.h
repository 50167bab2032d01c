/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a recipe's model, with the KV cache of one request of the longest context, fits into the
 * memory of its accelerators. */
#pragma once

#include "base/llm/catalog.h"
#include "fleet/recipes/recipe.h"

struct recipe_fit {
    bool known;                /* false: the catalogue or the recipe lacks a figure; `arithmetic`
                                * says which, and the others are NAN */
    bool fits;                 /* only if known */
    double usable_bytes;       /* that the engine takes of all chips */
    double weights_bytes;      /* on the accelerators */
    double overhead_bytes;     /* activations, graphs, the engine itself */
    double kv_bytes;           /* what is left for the KV cache; below 0: the weights alone do not
                                * fit */
    double kv_bytes_per_token; /* as the engine counts when it reports its capacity */
    int64_t kv_tokens;         /* the capacity that it will report; 0 if nothing is left */
    double request_bytes;      /* KV cache of one request of the longest context */
    int64_t context_tokens;
    char arithmetic[480]; /* one sentence with the figures */
};

/* INVALID if the recipe contradicts itself (more tensor parallelism than chips). */
CHECKED bool recipe_fit(const struct recipe *recipe, const struct catalog *catalog,
                        struct recipe_fit *out, struct error *error);
/* INVALID with the arithmetic if it is known not to fit, or with the reason if it cannot work. */
CHECKED bool recipe_fit_check(const struct recipe *recipe, const struct catalog *catalog,
                              struct error *error);
