/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/folders.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/core/memory.h"

/* Whether the path is a folder. If it is something else, errno is set to ENOTDIR. */
static bool is_folder(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode);
}

bool folders_make(const char *path, struct error *error)
{
    FREE_AUTO char *part = memory_copy_text(path);
    size_t length = strlen(path);

    if (length == 0)
        return error_set(error, ERROR_INVALID, "the name of a folder is empty");
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && !(errno == EEXIST && is_folder(part)))
            return error_set(error, ERROR_INVALID, "the folder %.200s cannot be created: %s", part,
                             strerror(errno));
        part[i] = path[i];
    }
    return true;
}
