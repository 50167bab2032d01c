/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/presence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core/log.h"
#include "base/core/memory.h"

void presence_watch(struct presence *presence, const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && presence->count < PRESENCE_FILES)
        presence->files[presence->count++] = (struct presence_file){
            memory_copy_text(path),
            status.st_dev,
            status.st_ino,
        };
}

void presence_finish(struct presence *presence)
{
    while (presence->count > 0)
        free(presence->files[--presence->count].path);
}

static CHECKED bool check_file(const struct presence_file *file, struct error *error)
{
    struct stat status;
    const char *reason = "another file is there now";

    if (stat(file->path, &status) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return error_set(error, ERROR_BUSY,
                             "%.300s cannot be checked (%s), so nothing can be stored: make it "
                             "accessible to the server again",
                             file->path, strerror(errno));
        reason = "it is no longer there";
    } else if (status.st_dev == file->device && status.st_ino == file->inode) {
        return true;
    }
    return error_set(
        error, ERROR_BUSY,
        "%.300s was moved or deleted while the server was running (%s), so nothing can be "
        "stored: put it back if it was moved; otherwise stop the server, restore a "
        "backup and start the server again",
        file->path, reason);
}

static CHECKED bool check_all(const struct presence *presence, struct error *error)
{
    for (size_t i = 0; i < presence->count; i++)
        if (!check_file(&presence->files[i], error))
            return false;
    return true;
}

bool presence_check(struct presence *presence, struct error *error)
{
    bool lost = !check_all(presence, error);

    if (atomic_exchange(&presence->lost, lost) == lost)
        return !lost;
    if (lost)
        log_error("%s", error->message);
    else
        log_info("the files in the data folder are back in place");
    return !lost;
}
