/* A folder of its own for a test, removed with everything in it. */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FOLDER_SIZE 64

static inline void folder_create(char out[FOLDER_SIZE])
{
    snprintf(out, FOLDER_SIZE, "/tmp/opsbrain-test-XXXXXX");
    if (mkdtemp(out) == NULL)
        abort();
}

static inline int folder_remove_entry(const char *path, const struct stat *status, int type,
                                      struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void folder_remove(const char *folder)
{
    nftw(folder, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
