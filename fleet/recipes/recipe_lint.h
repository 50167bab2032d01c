/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for recipes: what a platform or opsbrain refuses, and what is unwise although it is
 * allowed. Without I/O. */
#pragma once

#include "fleet/recipes/recipe.h"

/* A recipe, and where and how it is to be deployed. If `place` or `kind` is "", the rules about it
 * do not apply. */
struct recipe_lint_case {
    const struct recipe *recipe;
    const char *place; /* region or zone */
    const char *kind;  /* how the hardware is bought: "spot", ... */
};

/* For each thing that is unwise, appends a sentence with the reason to `warnings` (an array).
 * INVALID says why the platform or opsbrain refuses the recipe; `warnings` is then incomplete. */
CHECKED bool recipe_lint(const struct recipe_lint_case *candidate, json_t *warnings,
                         struct error *error);
