/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/secrets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/memory.h"

#define PREFIX "OPSBRAIN_SECRET_"
#define ORIGINS_SUFFIX ".origins"
#define ORIGINS_FILE_BYTES 65536

bool secret_name_check(const char *name, struct error *error)
{
    size_t valid = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    if (valid == 0 || valid >= SECRET_NAME_SIZE || name[valid] != '\0' || name[0] < 'A'
        || name[0] > 'Z')
        return error_set(
            error, ERROR_INVALID,
            "a secret's name is 1 to %d characters long, has only A-Z, 0-9 and _, and begins "
            "with a letter; give the name of a secret, not its value",
            SECRET_NAME_SIZE - 1);
    return true;
}

/* The error messages contain the secret's name but never its value. */
static CHECKED bool check_value(const char *name, const char *value, size_t length,
                                struct error *error)
{
    if (length == 0)
        return error_set(error, ERROR_INVALID, "the secret %s is empty", name);
    if (length >= SECRET_VALUE_SIZE)
        return error_set(error, ERROR_INVALID, "the secret %s is longer than %d bytes", name,
                         SECRET_VALUE_SIZE - 1);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)value[i] < 0x21 || value[i] == 0x7f)
            return error_set(error, ERROR_INVALID,
                             "the secret %s has a space or a control character at byte %zu "
                             "(counted from 0), which an Authorization header cannot contain",
                             name, i);
    return true;
}

static size_t length_without_newline(const char *value, size_t length)
{
    if (length > 0 && value[length - 1] == '\n')
        length--;
    if (length > 0 && value[length - 1] == '\r')
        length--;
    return length;
}

static CHECKED bool copy_value(const char *name, const char *value, size_t length, char *out,
                               struct error *error)
{
    length = length_without_newline(value, length);
    if (!check_value(name, value, length, error))
        return false;
    memcpy(out, value, length);
    out[length] = '\0';
    return true;
}

/* Reads at most `size` bytes of a regular file; fails for a pipe or a device, without blocking.
 * Follows symbolic links, because the secret folders that Kubernetes mounts consist of them.
 * Returns the number of bytes, or -1 with errno set. */
static ssize_t read_file(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    ssize_t result;
    int problem;

    if (file < 0)
        return -1;
    result = fstat(file, &status);
    if (result == 0 && !S_ISREG(status.st_mode)) {
        close(file);
        errno = EINVAL;
        return -1;
    }
    if (result == 0)
        result = read(file, out, size);
    problem = errno;
    close(file);
    errno = problem;
    return result;
}

static CHECKED bool refuse_path(struct error *error)
{
    return error_set(error, ERROR_INVALID,
                     "the path of a file in the secrets folder is longer than %d bytes",
                     PATH_MAX - 1);
}

static CHECKED bool read_from_folder(const char *folder, const char *name, char *out,
                                     struct error *error)
{
    char path[PATH_MAX];
    /* Has room for CR LF and for one more byte, so that a value that is too long is noticed. */
    char value[SECRET_VALUE_SIZE + 2] = "";
    ssize_t length;
    bool done;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return refuse_path(error);
    length = read_file(path, value, sizeof value);
    if (length < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_set(error, ERROR_NOT_FOUND,
                         "no secret named %s: set the environment variable " PREFIX
                         "%s, or put the secret in the file %s",
                         name, name, path);
    if (length < 0)
        return error_set(error, ERROR_INTERNAL, "cannot read the secret's file %s: %m", path);
    done = copy_value(name, value, (size_t)length, out, error);
    explicit_bzero(value, sizeof value);
    return done;
}

bool secret_read(const char *folder, const char *name, char out[SECRET_VALUE_SIZE],
                 struct error *error)
{
    char variable[sizeof PREFIX + SECRET_NAME_SIZE];
    const char *value;

    if (!secret_name_check(name, error))
        return false;
    snprintf(variable, sizeof variable, PREFIX "%s", name);
    value = secure_getenv(variable);
    if (value != NULL)
        return copy_value(name, value, strlen(value), out, error);
    if (folder[0] == '\0')
        return error_set(error, ERROR_NOT_FOUND,
                         "no secret named %s: set the environment variable %s, or start opsbrain "
                         "with a secrets folder and put the secret in the file %s there",
                         name, variable, name);
    return read_from_folder(folder, name, out, error);
}

bool secret_file_read(const char *folder, const char *file, char **out, size_t *length,
                      struct error *error)
{
    char path[PATH_MAX], *bytes;
    ssize_t got;

    if (folder[0] == '\0')
        return error_set(
            error, ERROR_NOT_FOUND,
            "there is no file %s: start opsbrain with a secrets folder and put the file there",
            file);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, file) >= sizeof path)
        return refuse_path(error);
    bytes = memory_zeroed(SECRET_FILE_BYTES + 2, 1);
    got = read_file(path, bytes, SECRET_FILE_BYTES + 1);
    if (got >= 0 && got <= SECRET_FILE_BYTES) {
        *out = bytes;
        *length = (size_t)got;
        return true;
    }
    if (got > SECRET_FILE_BYTES)
        error_set(error, ERROR_INVALID, "%s is longer than %d bytes", path, SECRET_FILE_BYTES);
    else if (errno == ENOENT || errno == ENOTDIR)
        error_set(error, ERROR_NOT_FOUND, "there is no file %s", path);
    else
        error_set(error, ERROR_INTERNAL, "cannot read %s: %m", path);
    secret_file_free(bytes, SECRET_FILE_BYTES + 1);
    return false;
}

void secret_file_free(char *bytes, size_t length)
{
    if (bytes != NULL)
        explicit_bzero(bytes, length);
    free(bytes);
}

/* ---- Where secrets may be sent --------------------------------------------------------------- */

static CHECKED bool read_line(const char *path, const char *line, size_t number,
                              char (*origins)[ORIGIN_SIZE], size_t *count, struct error *error)
{
    struct error problem;

    if (line[0] == '\0' || line[0] == '#')
        return true;
    if (url_origin(line, origins[*count], &problem)) {
        ++*count;
        return true;
    }
    return error_set(error, ERROR_INVALID,
                     "%s, line %zu, is not an origin (%s): the secret is not sent", path, number,
                     problem.message);
}

static CHECKED bool read_lines(const char *path, char *lines, char (**out)[ORIGIN_SIZE],
                               size_t *count, struct error *error)
{
    char(*origins)[ORIGIN_SIZE];
    size_t room = 1, number = 0;
    char *line;

    for (const char *c = lines; *c != '\0'; c++)
        room += *c == '\n';
    origins = memory_zeroed(room, sizeof *origins);
    *count = 0;
    while ((line = strsep(&lines, "\n")) != NULL) {
        size_t length = strlen(line);

        while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
            line[--length] = '\0';
        if (!read_line(path, line + strspn(line, " \t"), ++number, origins, count, error)) {
            free(origins);
            return false;
        }
    }
    *out = origins;
    return true;
}

bool secret_origins_read(const char *folder, const char *name, char (**out)[ORIGIN_SIZE],
                         size_t *count, bool *found, struct error *error)
{
    FREE_AUTO char *lines = memory_zeroed(1, ORIGINS_FILE_BYTES + 1);
    char path[PATH_MAX];
    ssize_t length;

    *found = false;
    if (folder[0] == '\0')
        return true;
    if ((size_t)snprintf(path, sizeof path, "%s/%s" ORIGINS_SUFFIX, folder, name) >= sizeof path)
        return refuse_path(error);
    length = read_file(path, lines, ORIGINS_FILE_BYTES + 1);
    if (length < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (length < 0)
        return error_set(error, ERROR_INTERNAL, "cannot read %s: %m", path);
    if (length > ORIGINS_FILE_BYTES)
        return error_set(error, ERROR_INVALID, "%s is longer than %d bytes", path,
                         ORIGINS_FILE_BYTES);
    lines[length] = '\0';
    *found = read_lines(path, lines, out, count, error);
    return *found;
}

/* ---- Listing secrets ------------------------------------------------------------------------- */

static void list_variables(void (*each)(void *context, const char *name), void *context)
{
    char name[SECRET_NAME_SIZE];
    struct error ignored;

    for (char **variable = environ; *variable != NULL; variable++) {
        size_t length = strcspn(*variable, "=");

        if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0
            || length - strlen(PREFIX) >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(length - strlen(PREFIX)),
                 *variable + strlen(PREFIX));
        if (secret_name_check(name, &ignored))
            each(context, name);
    }
}

void secret_names(const char *folder, void (*each)(void *context, const char *name), void *context)
{
    DIR *open_folder = folder[0] != '\0' ? opendir(folder) : NULL;
    const struct dirent *entry;
    struct error ignored;

    list_variables(each, context);
    while (open_folder != NULL && (entry = readdir(open_folder)) != NULL)
        if (secret_name_check(entry->d_name, &ignored))
            each(context, entry->d_name);
    if (open_folder != NULL)
        closedir(open_folder);
}
