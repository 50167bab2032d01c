/* SPDX-License-Identifier: Apache-2.0 */
/* Reads benchmark results that users have published, if they are in data/published-results/ in the
 * folder that the variable OPSBRAIN_SHARED names (default: ../shared). Also reads and writes other
 * files. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"

/* Returns the folder with the published results. If there is none, prints a message and returns
 * NULL. */
static inline const char *published_folder(char out[4096])
{
    const char *shared = getenv("OPSBRAIN_SHARED");
    DIR *folder;

    if (shared != NULL)
        snprintf(out, 4096, "%s/data/published-results", shared);
    else
        snprintf(out, 4096, "%s/../shared/data/published-results", SOURCE_DIR);
    folder = opendir(out);
    if (folder == NULL) {
        printf("skipped: there are no published results at %s (see OPSBRAIN_SHARED)\n", out);
        return NULL;
    }
    closedir(folder);
    return out;
}

static inline void file_read(const char *folder, const char *name, struct text *out)
{
    char path[8192], block[4096];
    size_t got;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        abort();
    }
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        text_add_bytes(out, block, got);
    fclose(file);
}

static inline void file_write(const char *folder, const char *name, const struct text *bytes)
{
    char path[8192];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes->data, 1, bytes->length, file) != bytes->length
        || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

/* Calls `each` for every file that is not hidden. Returns the number of these files. */
static inline size_t published_each(const char *folder,
                                    void (*each)(const char *name, const struct text *bytes))
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    size_t files = 0;

    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.') {
            TEXT_AUTO bytes = { 0 };

            file_read(folder, names[i]->d_name, &bytes);
            each(names[i]->d_name, &bytes);
            files++;
        }
        free(names[i]);
    }
    free(names);
    return files;
}
