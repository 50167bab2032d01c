/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for recipes: what a platform or opsbrain refuses, and what is allowed but unwise. Does no
 * I/O. */
#pragma once

#include "fleet/recipes/recipe.h"

/* A recipe, and where and how it will be deployed. If `place` or `kind` is "", the rules about it
 * do not apply. */
struct recipe_lint_case {
    const struct recipe *recipe;
    const char *place; /* region or zone */
    const char *kind;  /* how the hardware will be bought: "spot", ... */
};

/* For each thing that is unwise, appends a warning to the array `warnings`. INVALID if the platform
 * or opsbrain refuses the recipe: the message says why, and `warnings` is incomplete. */
CHECKED bool recipe_lint(const struct recipe_lint_case *candidate, json_t *warnings,
                         struct error *error);
