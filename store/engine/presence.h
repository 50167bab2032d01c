/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the watched files and folders are still at their paths. Data written to a file
 * that was deleted or replaced after it was opened is lost when the process ends. Private to
 * store/. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/core/error.h"

#define PRESENCE_FILES 8 /* maximum number of watched paths */

struct presence {
    struct presence_file {
        char *path;
        dev_t device;
        ino_t inode;
    } files[PRESENCE_FILES];
    size_t count;
    atomic_bool lost; /* the last check failed, and that was logged */
};

/* Remembers which file or folder is at `path`, to check it later. Nothing is remembered if stat()
 * fails for the path, or PRESENCE_FILES paths are already watched. */
void presence_watch(struct presence *presence, const char *path);
void presence_finish(struct presence *presence);
/* Thread safe. BUSY: a file is gone or was replaced, or stat() fails for another reason; the error
 * names the first such file. */
CHECKED bool presence_check(struct presence *presence, struct error *error);
