/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and lists recipes: the program's, those in the team's folder, and imported ones. */
#pragma once

#include "fleet/recipes/recipe.h"
#include "handlers/services.h"

/* Finds the newest revision of a recipe. NOT_FOUND: the message names similar ones, if there are
 * any. CONFLICT: this version of opsbrain does not accept the imported recipe. The caller frees
 * `out` with recipe_finish. */
CHECKED bool recipe_shelf_find(const struct services *services, const char *name,
                               struct recipe *out, struct error *error);

/* The newest revision of each recipe, except imported ones that this version of opsbrain does not
 * accept. Free with recipe_shelf_finish. */
struct recipe_shelf {
    struct recipe *recipes; /* in order of name */
    size_t count;
};
CHECKED bool recipe_shelf_read(const struct services *services, struct recipe_shelf *out,
                               struct error *error);
void recipe_shelf_finish(struct recipe_shelf *shelf);
#define RECIPE_SHELF_AUTO __attribute__((cleanup(recipe_shelf_finish))) struct recipe_shelf
