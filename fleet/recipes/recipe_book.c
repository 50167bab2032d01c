/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recipes/recipe_book.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/embedded.h"
#include "base/core/memory.h"
#include "base/core/text.h"

#define EXTENSION ".json"
#define PATH_SIZE 4096

extern const struct embedded_file catalog_recipes[];

struct recipe_book {
    struct recipe *rows; /* sorted by name */
    size_t count;
};

/* Adds a recipe. Its name must be the file's name without ".json". */
static CHECKED bool add(struct recipe_book *book, enum recipe_origin origin, const char *file_name,
                        const char *json, size_t length, struct error *error)
{
    struct recipe *row;

    book->rows = memory_resize(book->rows, book->count + 1, sizeof *book->rows);
    row = &book->rows[book->count];
    if (!recipe_parse(json, length, row, error))
        return false;
    row->origin = origin;
    book->count++;
    if (strcmp(row->name, file_name) != 0)
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"name\" is %s but its file is named %s: change one of them",
                         row->name, file_name);
    return true;
}

static CHECKED bool add_catalogue(struct recipe_book *book, struct error *error)
{
    struct error fault;

    for (const struct embedded_file *file = catalog_recipes; file->name != NULL; file++)
        if (!add(book, RECIPE_CATALOGUE, file->name, file->text, file->length, &fault))
            return error_set(error, ERROR_INTERNAL, "recipe %s in the catalogue: %.400s",
                             file->name, fault.message);
    return true;
}

/* ---- The team's folder ---- */

/* Reads at most one byte more than a recipe can have, so that recipe_parse refuses larger files. */
static CHECKED bool read_file(const char *path, struct text *out, struct error *error)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return error_set(error, ERROR_INVALID, "the file cannot be opened (%m)");
    text_reserve(out, RECIPE_BYTES_MAX + 1);
    out->length = fread(out->data, 1, RECIPE_BYTES_MAX + 1, file);
    fclose(file);
    return true;
}

static CHECKED bool add_file(struct recipe_book *book, const char *folder, const char *file,
                             struct error *error)
{
    TEXT_AUTO content = { 0 };
    char path[PATH_SIZE], name[RECIPE_NAME_SIZE];
    struct error fault;

    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen(EXTENSION)), file);
    if (!read_file(path, &content, &fault)
        || !add(book, RECIPE_FOLDER, name, content.data, content.length, &fault))
        return error_set(error, ERROR_INVALID, "the recipe file %.200s: %.250s", path,
                         fault.message);
    return true;
}

static int is_recipe(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), extension = strlen(EXTENSION);

    return entry->d_name[0] != '.' && length > extension
           && strcmp(entry->d_name + length - extension, EXTENSION) == 0;
}

static CHECKED bool add_folder(struct recipe_book *book, const char *folder, struct error *error)
{
    struct dirent **files = NULL;
    int count = scandir(folder, &files, is_recipe, alphasort);
    bool done = true;

    if (count < 0)
        return error_set(error, ERROR_INVALID, "the recipe folder %.200s cannot be read (%m)",
                         folder);
    if (count > RECIPE_FOLDER_FILES_MAX)
        done = error_set(error, ERROR_INVALID,
                         "the recipe folder %.200s has %d recipes, but only %d are allowed: remove "
                         "some",
                         folder, count, RECIPE_FOLDER_FILES_MAX);
    for (int i = 0; i < count; i++) {
        done = done && add_file(book, folder, files[i]->d_name, error);
        free(files[i]);
    }
    free(files);
    return done;
}

/* ---- The book ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct recipe *)a)->name, ((const struct recipe *)b)->name);
}

static CHECKED bool sort(struct recipe_book *book, struct error *error)
{
    qsort(book->rows, book->count, sizeof *book->rows, by_name);
    for (size_t i = 1; i < book->count; i++)
        if (strcmp(book->rows[i - 1].name, book->rows[i].name) == 0)
            return error_set(error, ERROR_INVALID,
                             "the recipe %s in the folder has the same name as one in the "
                             "catalogue: give it another name",
                             book->rows[i].name);
    return true;
}

bool recipe_book_create(const char *folder, struct recipe_book **out, struct error *error)
{
    struct recipe_book *book = memory_zeroed(1, sizeof *book);

    if (add_catalogue(book, error) && (folder[0] == '\0' || add_folder(book, folder, error))
        && sort(book, error)) {
        *out = book;
        return true;
    }
    recipe_book_destroy(book);
    return false;
}

void recipe_book_destroy(struct recipe_book *book)
{
    if (book == NULL)
        return;
    for (size_t i = 0; i < book->count; i++)
        recipe_finish(&book->rows[i]);
    free(book->rows);
    free(book);
}

const struct recipe *recipe_book_all(const struct recipe_book *book, size_t *count)
{
    *count = book->count;
    return book->rows;
}

const struct recipe *recipe_book_find(const struct recipe_book *book, const char *name)
{
    struct recipe key = { 0 };

    text_copy(key.name, sizeof key.name, name);
    return strlen(name) >= sizeof key.name
               ? NULL
               : bsearch(&key, book->rows, book->count, sizeof key, by_name);
}
