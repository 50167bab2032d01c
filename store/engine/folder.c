/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/core/folders.h"
#include "base/core/text.h"

static CHECKED bool failed(const char *folder, const char *why, struct error *error)
{
    return error_set(error, ERROR_INVALID,
                     "the data folder %.200s cannot be used: %s; set OPSBRAIN_DATA to a writable "
                     "folder",
                     folder, why);
}

static CHECKED bool create(const char *folder, struct error *error)
{
    struct error why;

    return folders_make(folder, &why) || failed(folder, why.message, error);
}

static CHECKED bool refuse_in_use(const char *folder, int file, struct error *error)
{
    char process[24] = "";
    ssize_t length = pread(file, process, sizeof process - 1, 0);

    process[length > 0 ? strcspn(process, "\n") : 0] = '\0';
    return error_set(
        error, ERROR_CONFLICT,
        "the data folder %s is in use by another opsbrain (process %s): stop it first, "
        "or set OPSBRAIN_DATA to another folder",
        folder, *process == '\0' ? "unknown" : process);
}

bool folder_lock(const char *folder, int *lock_file, struct error *error)
{
    TEXT_AUTO path = { 0 };
    bool done;
    int file;

    if (!create(folder, error))
        return false;
    text_addf(&path, "%s/lock", folder);
    file = open(text_string(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return failed(folder, strerror(errno), error);
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        done = errno == EWOULDBLOCK ? refuse_in_use(folder, file, error)
                                    : failed(folder, strerror(errno), error);
        close(file);
        return done;
    }
    /* The process id is only for messages: the folder is locked by flock. */
    if (ftruncate(file, 0) != 0 || dprintf(file, "%d\n", (int)getpid()) < 0) {
        done = failed(folder, strerror(errno), error);
        close(file);
        return done;
    }
    *lock_file = file;
    return true;
}
