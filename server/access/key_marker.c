/* SPDX-License-Identifier: Apache-2.0 */
#include "server/access/key_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/log.h"
#include "base/core/text.h"

static const char CONTENT[] =
    "The data folder next to this file has had API keys. While this file exists, `opsbrain serve`\n"
    "with --auth auto does not start without keys; `opsbrain key reset` removes this file.\n";

/* Whether the path might end with "." or "..", in which case it does not show the folder's name. */
static bool may_be_nameless(const char *folder, size_t length)
{
    return length == 0 || folder[length - 1] == '.';
}

static void name_marker(const char *folder, struct text *out)
{
    size_t length = strlen(folder);
    char resolved[PATH_MAX];

    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (may_be_nameless(folder, length) && realpath(folder, resolved) != NULL)
        text_add(out, resolved);
    else
        text_add_bytes(out, folder, length);
    text_add(out, ".keys");
}

void key_marker_write(const char *data_folder)
{
    TEXT_AUTO path = { 0 };
    int file;

    if (data_folder[0] == '\0' || key_marker_exists(data_folder))
        return;
    name_marker(data_folder, &path);
    file = open(text_string(&path), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        log_info("cannot record that the data folder has keys (%s: %s)", text_string(&path),
                 strerror(errno));
        return;
    }
    if (write(file, CONTENT, sizeof CONTENT - 1) < 0 || fsync(file) != 0)
        log_warning("cannot write to %s, which records that the data folder has keys: %s",
                    text_string(&path), strerror(errno));
    close(file);
}

bool key_marker_exists(const char *data_folder)
{
    TEXT_AUTO path = { 0 };
    struct stat status;

    if (data_folder[0] == '\0')
        return false;
    name_marker(data_folder, &path);
    return lstat(text_string(&path), &status) == 0;
}

bool key_marker_remove(const char *data_folder, struct error *error)
{
    TEXT_AUTO path = { 0 };

    if (data_folder[0] == '\0')
        return error_set(error, ERROR_NOT_FOUND,
                         "no data folder is named, so there is no record of keys to remove");
    name_marker(data_folder, &path);
    if (unlink(text_string(&path)) == 0)
        return true;
    if (errno == ENOENT)
        return error_set(error, ERROR_NOT_FOUND,
                         "%s does not exist: there is no record of earlier keys, and so nothing to "
                         "reset",
                         text_string(&path));
    return error_set(error, ERROR_INVALID, "cannot remove %s: %s", text_string(&path),
                     strerror(errno));
}
