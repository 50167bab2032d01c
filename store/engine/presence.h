/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the opened files are still those at their paths. Data written to a file that was
 * deleted or replaced meanwhile is lost when the process ends. Private to store/. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/core/error.h"

#define PRESENCE_FILES 8

struct presence {
    struct presence_file {
        char *path;
        dev_t device;
        ino_t inode;
    } files[PRESENCE_FILES];
    size_t count;
    atomic_bool lost; /* and was logged */
};

/* Remembers the folder, or a file in it, as it is now. One that is missing is not watched. */
void presence_watch(struct presence *presence, const char *path);
void presence_finish(struct presence *presence);
/* Any thread. BUSY names the first that has changed. */
CHECKED bool presence_check(struct presence *presence, struct error *error);
