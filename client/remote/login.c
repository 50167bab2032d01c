/* SPDX-License-Identifier: Apache-2.0 */
#include "client/remote/login.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/folders.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/url.h"

#define FILE_LIMIT 65536

/* ---- The file ---- */

/* A relative path in XDG_CONFIG_HOME is ignored (XDG Base Directory Specification), and so is one
 * in HOME. */
static CHECKED bool find_folder(struct text *out, struct error *error)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (folder != NULL && folder[0] == '/')
        text_addf(out, "%s/opsbrain", folder);
    else if (home != NULL && home[0] == '/')
        text_addf(out, "%s/.config/opsbrain", home);
    else
        return error_set(
            error, ERROR_INVALID,
            "neither XDG_CONFIG_HOME nor HOME is an absolute path: there is nowhere to keep a key; "
            "set OPSBRAIN_URL and OPSBRAIN_KEY");
    return true;
}

/* Others must not be able to read or replace the key. */
static CHECKED bool check_private(int file, const char *path, struct error *error)
{
    struct stat status;

    if (fstat(file, &status) != 0)
        return error_set(error, ERROR_INTERNAL, "%.200s: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
        return error_set(
            error, ERROR_FORBIDDEN,
            "%.200s is not a regular file that you own: delete it, then run opsbrain login", path);
    if ((status.st_mode & 077) != 0)
        return error_set(
            error, ERROR_FORBIDDEN,
            "others have access to %.200s: run chmod 600 on it, and treat its keys as leaked",
            path);
    return true;
}

static CHECKED bool read_bytes(int file, const char *path, struct text *out, struct error *error)
{
    char buffer[4096];
    ssize_t length;

    while ((length = read(file, buffer, sizeof buffer)) > 0) {
        text_add_bytes(out, buffer, (size_t)length);
        explicit_bzero(buffer, (size_t)length);
        if (out->length > FILE_LIMIT)
            return error_set(error, ERROR_INVALID,
                             "%.200s is longer than %d bytes: delete it, then run opsbrain login",
                             path, FILE_LIMIT);
    }
    return length == 0 || error_set(error, ERROR_INTERNAL, "%.200s: %s", path, strerror(errno));
}

static CHECKED bool parse(const char *path, struct text *bytes, json_t **out, struct error *error)
{
    json_auto_t *parsed = NULL;
    struct error why;
    bool done = json_parse(text_string(bytes), bytes->length, &parsed, &why);

    if (bytes->data != NULL)
        explicit_bzero(bytes->data, bytes->length);
    if (done && json_is_object(parsed)) {
        *out = json_incref(parsed);
        return true;
    }
    return error_set(error, ERROR_INVALID,
                     "%.200s is not in the format that opsbrain login writes: delete it", path);
}

/* *out: an empty object if there is no file. */
static CHECKED bool load(json_t **out, struct error *error)
{
    TEXT_AUTO path = { 0 }, bytes = { 0 };
    int file;
    bool done;

    if (!find_folder(&path, error))
        return false;
    text_add(&path, "/login.json");
    file = open(text_string(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT) {
        *out = json_object();
        return true;
    }
    if (file < 0)
        return error_set(error, ERROR_INTERNAL, "%.200s: %s", text_string(&path), strerror(errno));
    done = check_private(file, text_string(&path), error)
           && read_bytes(file, text_string(&path), &bytes, error);
    close(file);
    return done && parse(text_string(&path), &bytes, out, error);
}

/* Writes the file completely or not at all; others can never read it. */
static CHECKED bool write_file(const char *path, const char *bytes, struct error *error)
{
    TEXT_AUTO temporary = { 0 };
    size_t length = strlen(bytes);
    int file;
    bool done;

    text_addf(&temporary, "%s.%ld", path, (long)getpid());
    unlink(text_string(&temporary)); /* left by a killed process */
    file =
        open(text_string(&temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return error_set(error, ERROR_INTERNAL, "%.200s: %s", path, strerror(errno));
    done = write(file, bytes, length) == (ssize_t)length && fsync(file) == 0;
    done = close(file) == 0 && done;
    if (done && rename(text_string(&temporary), path) == 0)
        return true;
    error_set(error, ERROR_INTERNAL, "%.200s: %s", path, strerror(errno));
    unlink(text_string(&temporary));
    return false;
}

static CHECKED bool save(const json_t *stored, struct error *error)
{
    TEXT_AUTO path = { 0 };
    FREE_AUTO char *bytes = json_write(stored);
    bool done = find_folder(&path, error) && folders_make(text_string(&path), error);

    text_add(&path, "/login.json");
    done = done && write_file(text_string(&path), bytes, error);
    explicit_bzero(bytes, strlen(bytes));
    return done;
}

/* ---- The server and its key ---- */

static void trim_end(char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);

    if (length >= end && strcmp(text + length - end, ending) == 0)
        text[length - end] = '\0';
}

bool login_url(const char *written, char out[LOGIN_URL_SIZE], struct error *error)
{
    char host[URL_HOST_SIZE];
    struct error why;
    int port;

    if (!url_check(written, host, &port, &why))
        return error_set(error, ERROR_INVALID,
                         "the server's address must look like " LOGIN_URL_USUAL ": %s",
                         why.message);
    text_copy(out, LOGIN_URL_SIZE, written);
    trim_end(out, "/");
    trim_end(out, "/mcp");
    trim_end(out, "/");
    return true;
}

static CHECKED bool set_key(const char *key, const char *source, struct login *out,
                            struct error *error)
{
    if (strlen(key) < LOGIN_KEY_SIZE) {
        text_copy(out->key, sizeof out->key, key);
        return true;
    }
    return error_set(error, ERROR_INVALID,
                     "%s is longer than a key can be (%d bytes): set OPSBRAIN_KEY to the right key",
                     source, LOGIN_KEY_SIZE - 1);
}

static CHECKED bool find_key(const json_t *stored, struct login *out, struct error *error)
{
    const char *given = getenv("OPSBRAIN_KEY");
    char origin[ORIGIN_SIZE];

    if (given != NULL && given[0] != '\0')
        return set_key(given, "OPSBRAIN_KEY", out, error);
    if (!url_origin(out->url, origin, error))
        return false;
    return set_key(json_get_text(json_object_get(stored, "keys"), origin, ""), "the stored key",
                   out, error);
}

/* Loads the file. *out: an empty object if there is no file, or if OPSBRAIN_URL is set and the
 * file's folder is not known. */
static CHECKED bool load_if_possible(json_t **out, struct error *error)
{
    const char *url = getenv("OPSBRAIN_URL");
    struct error ignored;
    TEXT_AUTO folder = { 0 };

    if (url != NULL && url[0] != '\0' && !find_folder(&folder, &ignored)) {
        *out = json_object();
        return true;
    }
    return load(out, error);
}

static CHECKED bool read_for(const char *url, const json_t *stored, struct login *out,
                             struct error *error)
{
    struct login login = { 0 };

    if (!login_url(url, login.url, error) || !find_key(stored, &login, error))
        return false;
    *out = login;
    explicit_bzero(login.key, sizeof login.key);
    return true;
}

bool login_read(struct login *out, struct error *error)
{
    const char *url = getenv("OPSBRAIN_URL");
    json_auto_t *stored = NULL;

    if (!load_if_possible(&stored, error))
        return false;
    if (url == NULL || url[0] == '\0')
        url = json_get_text(stored, "url", LOGIN_URL_USUAL);
    return read_for(url, stored, out, error);
}

bool login_read_for(const char *url, struct login *out, struct error *error)
{
    json_auto_t *stored = NULL;

    return load_if_possible(&stored, error) && read_for(url, stored, out, error);
}

bool login_store(const struct login *login, struct error *error)
{
    json_auto_t *stored = NULL;
    char origin[ORIGIN_SIZE];
    json_t *keys;

    if (!url_origin(login->url, origin, error) || !load(&stored, error))
        return false;
    if (!json_is_object(json_object_get(stored, "keys")))
        json_object_set_new(stored, "keys", json_object());
    keys = json_object_get(stored, "keys");
    if (login->key[0] != '\0')
        json_object_set_new(keys, origin, json_string(login->key));
    else
        json_object_del(keys, origin);
    json_object_set_new(stored, "url", json_string(login->url));
    return save(stored, error);
}

bool login_forget(const char *url, bool *found, struct error *error)
{
    json_auto_t *stored = NULL;
    char origin[ORIGIN_SIZE];

    if (!url_origin(url, origin, error) || !load(&stored, error))
        return false;
    *found = json_object_del(json_object_get(stored, "keys"), origin) == 0;
    return !*found || save(stored, error);
}
