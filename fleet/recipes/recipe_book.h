/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes of catalog/recipes, which are part of the program, and those of the team's folder.
 * They are read once, at start. */
#pragma once

#include "fleet/recipes/recipe.h"

#define RECIPE_FOLDER_FILES_MAX 500

struct recipe_book;

/* Reads the catalogue and the files *.json in `folder` ("": there is none), each of which is named
 * after its recipe. INVALID: the message names the file that is wrong, the recipe of the folder
 * whose name the catalogue has already, or the folder if it cannot be read or has too many recipes.
 * INTERNAL if a recipe of the catalogue is wrong. Free with recipe_book_destroy. */
CHECKED bool recipe_book_create(const char *folder, struct recipe_book **out, struct error *error);
void recipe_book_destroy(struct recipe_book *book); /* does nothing for NULL */

/* Returns all recipes, sorted by name. Borrowed. */
const struct recipe *recipe_book_all(const struct recipe_book *book, size_t *count);
/* Returns NULL if there is no recipe of that name. Borrowed. */
const struct recipe *recipe_book_find(const struct recipe_book *book, const char *name);
