/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder for a test, removed with everything in it. */
#pragma once

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_SIZE 64

static inline void folder_create(char out[FOLDER_SIZE])
{
    snprintf(out, FOLDER_SIZE, "/tmp/opsbrain-test-XXXXXX");
    if (mkdtemp(out) == NULL)
        abort();
}

/* Creates the folder in /dev/shm, which is in memory, so that thousands of transactions are fast.
 * If the system has no /dev/shm, does the same as folder_create. */
static inline void folder_create_in_memory(char out[FOLDER_SIZE])
{
    snprintf(out, FOLDER_SIZE, "/dev/shm/opsbrain-test-XXXXXX");
    if (mkdtemp(out) == NULL)
        folder_create(out);
}

static inline int folder_remove_entry(const char *path, const struct stat *status, int type,
                                      struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

/* Removes the folder and its key marker, a file next to it (server/access/key_marker.h). */
static inline void folder_remove(const char *folder)
{
    char marker[FOLDER_SIZE + 8];

    snprintf(marker, sizeof marker, "%s.keys", folder);
    unlink(marker);
    nftw(folder, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
