/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes that this machine's disk has: those of catalog/recipes, which are part of the
 * program, and those of the team's folder. They are read once, at start. */
#pragma once

#include "fleet/recipes/recipe.h"

#define RECIPE_FOLDER_FILES_MAX 500

struct recipe_book;

/* `folder`: its files *.json, each named like its recipe; "": none. INVALID names the file that is
 * wrong, or whose recipe has the name of one in the catalogue. */
CHECKED bool recipe_book_create(const char *folder, struct recipe_book **out, struct error *error);
void recipe_book_destroy(struct recipe_book *book); /* does nothing for NULL */

/* Borrowed, in order of name. */
const struct recipe *recipe_book_all(const struct recipe_book *book, size_t *count);
const struct recipe *recipe_book_find(const struct recipe_book *book,
                                      const char *name); /* or NULL */
