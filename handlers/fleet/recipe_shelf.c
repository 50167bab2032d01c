/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/recipe_shelf.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "handlers/values.h"
#include "store/fleet/recipe_imports.h"

static CHECKED bool read_import(const struct recipe_import *row, struct recipe *out,
                                struct error *error)
{
    struct error fault;

    if (!recipe_parse(row->document, strlen(row->document), out, &fault))
        return error_set(
            error, ERROR_CONFLICT,
            "the recipe %s was imported into a different version of opsbrain, and this version "
            "does not accept it (%.200s): import a corrected one",
            row->name, fault.message);
    out->origin = RECIPE_IMPORTED;
    out->revision = row->revision;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct recipe *)a)->name, ((const struct recipe *)b)->name);
}

/* An import never replaces a recipe of the same name from the program or from the team's folder. */
bool recipe_shelf_read(const struct services *services, struct recipe_shelf *out,
                       struct error *error)
{
    struct recipe_import *rows;
    size_t count, book_count;
    const struct recipe *book = recipe_book_all(services->recipes, &book_count);
    struct error fault;

    *out = (struct recipe_shelf){ 0 };
    if (!recipe_import_list(services->store, &rows, &count, error))
        return false;
    out->recipes = memory_zeroed(book_count + count + 1, sizeof *out->recipes);
    for (; out->count < book_count; out->count++) {
        out->recipes[out->count] = book[out->count];
        json_incref(book[out->count].document);
    }
    for (size_t i = 0; i < count; i++) {
        if (recipe_book_find(services->recipes, rows[i].name) != NULL)
            continue;
        if (read_import(&rows[i], &out->recipes[out->count], &fault))
            out->count++;
        else
            log_warning("a recipe is not listed: %s", fault.message);
    }
    recipe_imports_free(rows, count);
    qsort(out->recipes, out->count, sizeof *out->recipes, by_name);
    return true;
}

void recipe_shelf_finish(struct recipe_shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++)
        recipe_finish(&shelf->recipes[i]);
    free(shelf->recipes);
    *shelf = (struct recipe_shelf){ 0 };
}

static bool resembles(const char *given, const char *known)
{
    return strcasestr(known, given) != NULL || value_name_is_near(given, known);
}

static CHECKED bool not_found(const struct services *services, const char *name,
                              struct error *error)
{
    enum { SHOWN = 5 };
    RECIPE_SHELF_AUTO shelf = { 0 };
    TEXT_AUTO names = { 0 };
    char shown[VALUE_SHOWN_SIZE];
    size_t found = 0;

    if (!recipe_shelf_read(services, &shelf, error))
        return false;
    for (size_t i = 0; i < shelf.count && found < SHOWN; i++)
        if (resembles(name, shelf.recipes[i].name))
            text_addf(&names, "%s%s", found++ == 0 ? ": did you mean " : ", ",
                      shelf.recipes[i].name);
    return error_set(error, ERROR_NOT_FOUND,
                     "there is no recipe %s%s; recipe_list lists all recipes",
                     value_show_text(name, shown), text_string(&names));
}

bool recipe_shelf_find(const struct services *services, const char *name, struct recipe *out,
                       struct error *error)
{
    const struct recipe *in_book = recipe_book_find(services->recipes, name);
    struct recipe_import row = { 0 };
    bool found, done;

    if (in_book != NULL) {
        *out = *in_book;
        json_incref(out->document);
        return true;
    }
    if (!recipe_import_find(services->store, name, &row, &found, error))
        return false;
    done = found ? read_import(&row, out, error) : not_found(services, name, error);
    if (found)
        recipe_import_finish(&row);
    return done;
}
