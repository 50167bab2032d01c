/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/body_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sets the error from errno. */
static CHECKED bool fail(struct error *error)
{
    int cause = errno;

    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        return error_set(
            error, ERROR_BUSY,
            "the disk of the data folder is full, so the file cannot be accepted: free some space "
            "and try again");
    return error_set(error, ERROR_INTERNAL, "a file in the data folder cannot be used: %s",
                     strerror(cause));
}

bool body_file_create(const char *folder, struct body_file *out, struct error *error)
{
    out->size = 0;
    out->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return out->fd >= 0 || fail(error);
}

bool body_file_add(struct body_file *file, const char *bytes, size_t size, struct error *error)
{
    for (size_t written = 0; written < size;) {
        ssize_t length = write(file->fd, bytes + written, size - written);

        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return fail(error);
        written += (size_t)length;
    }
    file->size += size;
    return true;
}

bool body_file_map(const struct body_file *file, const char **out, struct error *error)
{
    void *bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, file->fd, 0);

    if (bytes == MAP_FAILED)
        return fail(error);
    *out = bytes;
    return true;
}

void body_file_unmap(const struct body_file *file, const char *bytes)
{
    munmap((void *)(uintptr_t)bytes, file->size);
}

void body_file_finish(struct body_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}
