/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes that admins imported. A revision is never changed: plans point at it. */
#pragma once

#include "store/ledger/change.h"

#define RECIPE_IMPORTS_MAX 500 /* names */

struct recipe_import {
    char name[64];
    int64_t revision;
    char *document; /* JSON, heap */
    char principal[64];
    int64_t created_ms;
};
void recipe_import_finish(struct recipe_import *row);
void recipe_imports_free(struct recipe_import *rows, size_t count);

/* As the next revision of its name, or, *existed, the newest one if its document is the same.
 * CONFLICT: there are RECIPE_IMPORTS_MAX names. `out` is finished by the caller. */
CHECKED bool recipe_import_put(struct store *store, const char *name, const char *document,
                               int64_t now_ms, struct change *change, struct recipe_import *out,
                               bool *existed, struct error *error);
/* The newest revision. */
CHECKED bool recipe_import_find(struct store *store, const char *name, struct recipe_import *out,
                                bool *found, struct error *error);
/* The newest revision of each, by name. */
CHECKED bool recipe_import_list(struct store *store, struct recipe_import **out, size_t *count,
                                struct error *error);
