/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/fleet_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/digest.h"

#define NUMBER_SIZE ID_SIZE
#define NAME "fleet.place"

static void path_of(const char *folder, const char *suffix, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/" NAME "%s", folder, suffix);
}

/* Reads the number in the file; "" if there is no file, or it cannot be read. */
static void read_number(const char *folder, char out[NUMBER_SIZE])
{
    char path[PATH_MAX];
    ssize_t length;
    int file;

    path_of(folder, "", path);
    out[0] = '\0';
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    length = read(file, out, NUMBER_SIZE - 1);
    out[length < 0 ? 0 : length] = '\0';
    close(file);
}

static CHECKED bool write_file(const char *path, const char *number, struct error *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t length = (ssize_t)strlen(number);
    bool done = file >= 0 && write(file, number, (size_t)length) == length && fsync(file) == 0;

    if (file >= 0)
        close(file);
    return done || error_set(error, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
}

static CHECKED bool write_number(const char *folder, const char *number, struct error *error)
{
    char path[PATH_MAX], fresh[PATH_MAX];

    path_of(folder, "", path);
    path_of(folder, ".new", fresh);
    if (!write_file(fresh, number, error))
        return false;
    return rename(fresh, path) == 0
           || error_set(error, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
}

/* What the database stores about its place: one digest, made from the folder's path, its inode and
 * the number in the file. If the folder is copied, the path or the inode differs, except in a clone
 * of the whole disk. If the database is replaced with an older copy, the number differs. */
static void describe(const char *folder, const char *number, char out[DIGEST_TEXT_SIZE])
{
    char path[PATH_MAX] = "";
    struct stat status = { 0 };
    TEXT_AUTO all = { 0 };

    if (realpath(folder, path) == NULL)
        text_copy(path, sizeof path, folder);
    if (stat(folder, &status) != 0)
        status.st_ino = 0;
    text_addf(&all, "%s %llu %s", path, (unsigned long long)status.st_ino, number);
    digest_sha256_text(text_string(&all), all.length, out);
}

/* Gives the place a new number. Even if the process is killed in this function, the database and
 * the file still agree. */
static CHECKED bool renew(struct store *store, const char *folder, const char *place,
                          struct error *error)
{
    char number[NUMBER_SIZE], next[DIGEST_TEXT_SIZE];
    TEXT_AUTO both = { 0 };

    random_id("plc", number);
    describe(folder, number, next);
    text_addf(&both, "%s %s", place, next);
    return fleet_instance_settle(store, text_string(&both), NULL, error)
           && write_number(folder, number, error)
           && fleet_instance_settle(store, next, NULL, error);
}

bool fleet_place_read(struct store *store, const char *folder, struct fleet_instance *out,
                      struct error *error)
{
    char number[NUMBER_SIZE], place[DIGEST_TEXT_SIZE];

    read_number(folder, number);
    describe(folder, number, place);
    return fleet_instance_read(store, place, out, error)
           && (out->moved || renew(store, folder, place, error));
}

bool fleet_place_resume(struct store *store, struct change *change, struct error *error)
{
    return fleet_instance_settle(store, "", change, error);
}
