/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_record.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/json/json.h"

#define NAME_BYTES 63
#define OPEN_AT_ONCE 16

bool machine_record_check_name(const char *name, struct error *error)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    if (length > 0 && length <= NAME_BYTES && name[length] == '\0' && name[0] != '-'
        && name[length - 1] != '-')
        return true;
    return error_set(
        error, ERROR_INVALID,
        "a server's name on this machine has 1 to %d characters from a-z, 0-9 and '-', and does "
        "not begin or end with '-'",
        NAME_BYTES);
}

const char *machine_record_path(const char *folder, const char *name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/%s", folder, name);
    return out;
}

static CHECKED bool fail(const char *path, struct error *error)
{
    return error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_INTERNAL, "%s: %s", path,
                     strerror(errno));
}

static CHECKED bool read_all(int file, const char *path, struct text *out, struct error *error)
{
    char bytes[4096];
    ssize_t length;

    while ((length = read(file, bytes, sizeof bytes)) > 0 && out->length < MACHINE_RECORD_BYTES)
        text_add_bytes(out, bytes, (size_t)length);
    if (length < 0)
        return fail(path, error);
    return length == 0
           || error_set(error, ERROR_INTERNAL, "%s has more than %d bytes", path,
                        MACHINE_RECORD_BYTES);
}

bool machine_record_read(const char *folder, const char *file, json_t **out, struct error *error)
{
    char path[PATH_MAX];
    TEXT_AUTO bytes = { 0 };
    int opened = open(machine_record_path(folder, file, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool done;

    if (opened < 0)
        return fail(path, error);
    done = read_all(opened, path, &bytes, error);
    close(opened);
    return done && json_parse(text_string(&bytes), bytes.length, out, error);
}

static CHECKED bool write_all(const char *path, const char *bytes, struct error *error)
{
    size_t length = strlen(bytes);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool done = file >= 0 && write(file, bytes, length) == (ssize_t)length && fsync(file) == 0;

    done = done || fail(path, error);
    if (file >= 0)
        close(file);
    return done;
}

bool machine_record_write(const char *folder, const char *file, const json_t *value,
                          struct error *error)
{
    char path[PATH_MAX], fresh[PATH_MAX + 8];
    FREE_AUTO char *bytes = json_write(value);

    snprintf(fresh, sizeof fresh, "%s.new", machine_record_path(folder, file, path));
    return write_all(fresh, bytes, error) && (rename(fresh, path) == 0 || fail(path, error));
}

/* ---- The lock ---- */

/* Describes an open file description lock on the whole file. Such a lock is not released when
 * another descriptor of the file is closed. */
static struct flock whole_file(void)
{
    return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
}

bool machine_record_lock(const char *folder, int *lock, struct error *error)
{
    struct flock whole = whole_file();
    char path[PATH_MAX];
    int file = open(machine_record_path(folder, MACHINE_LOCK, path),
                    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (file < 0)
        return fail(path, error);
    if (fcntl(file, F_OFD_SETLK, &whole) != 0) {
        close(file);
        return error_set(error, ERROR_CONFLICT, "another watchdog holds the lock on %s", folder);
    }
    *lock = file;
    return true;
}

bool machine_record_is_locked(const char *folder)
{
    struct flock whole = whole_file();
    char path[PATH_MAX];
    int file =
        open(machine_record_path(folder, MACHINE_LOCK, path), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool locked = file >= 0 && fcntl(file, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;

    if (file >= 0)
        close(file);
    return locked;
}

/* ---- Removing a folder ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)walk;
    if (kind == FTW_DP)
        rmdir(path);
    else
        unlink(path);
    return 0;
}

void machine_record_remove(const char *path)
{
    nftw(path, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
