/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform refuses, and what it allows although it is unwise: a table of rules for recipes,
 * without I/O. */
#pragma once

#include "fleet/recipes/recipe.h"

/* Where and how a recipe is to be deployed; a member that is "" is not judged. */
struct recipe_lint_case {
    const struct recipe *recipe;
    const char *place; /* region or zone */
    const char *kind;  /* of price: "spot", ... */
};

/* Appends a sentence with its reason to `warnings` (an array) for each thing that is unwise.
 * INVALID: the platform would refuse it; says why. */
CHECKED bool recipe_lint(const struct recipe_lint_case *of, json_t *warnings, struct error *error);
