/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes that admins imported. A revision never changes, because plans refer to it. */
#pragma once

#include "store/ledger/change.h"

#define RECIPE_IMPORTS_MAX 500 /* limit on the number of recipe names */

struct recipe_import {
    char name[64];
    int64_t revision;
    char *document; /* JSON, heap */
    char principal[64];
    int64_t created_ms;
};
void recipe_import_finish(struct recipe_import *row);
void recipe_imports_free(struct recipe_import *rows, size_t count);

/* Adds the first or the next revision of the recipe. *existed: the newest revision already has this
 * document, so nothing is added, and *out is that revision. CONFLICT: the name is new, and there
 * are already RECIPE_IMPORTS_MAX names. Free *out with recipe_import_finish. */
CHECKED bool recipe_import_put(struct store *store, const char *name, const char *document,
                               int64_t now_ms, struct change *change, struct recipe_import *out,
                               bool *existed, struct error *error);
/* Finds the newest revision. Free *out with recipe_import_finish. */
CHECKED bool recipe_import_find(struct store *store, const char *name, struct recipe_import *out,
                                bool *found, struct error *error);
/* Lists the newest revision of each name, in order of name. Free with recipe_imports_free. */
CHECKED bool recipe_import_list(struct store *store, struct recipe_import **out, size_t *count,
                                struct error *error);
