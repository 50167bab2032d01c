/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes in catalog/recipes, which are built into the program, and those in the team's folder.
 * All are read once, at start. */
#pragma once

#include "fleet/recipes/recipe.h"

#define RECIPE_FOLDER_FILES_MAX 500

struct recipe_book;

/* Reads the catalogue and, unless `folder` is "", the folder's files NAME.json, each with the
 * recipe of that name. INVALID if a file is invalid, if a recipe in the folder has the same name as
 * one in the catalogue, or if the folder cannot be read or has too many recipes; the message
 * names the file, recipe or folder. INTERNAL if a recipe in the catalogue is invalid. Free with
 * recipe_book_destroy. */
CHECKED bool recipe_book_create(const char *folder, struct recipe_book **out, struct error *error);
void recipe_book_destroy(struct recipe_book *book); /* does nothing for NULL */

/* Returns all recipes, sorted by name. Borrowed. */
const struct recipe *recipe_book_all(const struct recipe_book *book, size_t *count);
/* Returns NULL if there is no recipe with that name. Borrowed. */
const struct recipe *recipe_book_find(const struct recipe_book *book, const char *name);
