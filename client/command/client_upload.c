/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/client_upload.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/formats/percent.h"
#include "base/json/json.h"

#define FILE_LIMIT ((off_t)64 << 20) /* bytes; the server refuses larger files */

static CHECKED bool read_file(const char *path, struct text *out, struct error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    char buffer[65536];
    ssize_t length = -1;

    if (file < 0)
        return error_set(error, ERROR_INVALID, "%.200s: %s", path, strerror(errno));
    if (fstat(file, &status) == 0 && status.st_size <= FILE_LIMIT)
        while ((length = read(file, buffer, sizeof buffer)) > 0 && out->length <= FILE_LIMIT)
            text_add_bytes(out, buffer, (size_t)length);
    close(file);
    if (length == 0 && out->length > 0)
        return true;
    return error_set(error, ERROR_INVALID,
                     "%.200s cannot be uploaded: it must be a readable file of 1 byte to 64 MiB",
                     path);
}

static void add_query(struct text *url, const char *name, const char *value)
{
    text_addf(url, "%c%s=", strchr(text_string(url), '?') == NULL ? '?' : '&', name);
    percent_encode(value, "", url);
}

static void add_argument(struct text *url, const char *name, const json_t *value)
{
    TEXT_AUTO written = { 0 };

    if (!json_is_string(value))
        json_add(&written, value);
    add_query(url, name, json_is_string(value) ? json_string_value(value) : text_string(&written));
}

/* Adds the arguments as a query string. Each string "name=value" in the argument `options` becomes
 * a parameter of its own. */
static void add_arguments(struct text *url, const json_t *arguments)
{
    const char *name;
    json_t *value, *item;
    size_t i;

    json_object_foreach(json_iterable(arguments), name, value) {
        if (!json_is_array(value))
            add_argument(url, name, value);
        json_array_foreach(value, i, item) {
            const char *text = json_is_string(item) ? json_string_value(item) : "";
            const char *equals = strcmp(name, "options") == 0 ? strchr(text, '=') : NULL;
            TEXT_AUTO option = { 0 };

            if (equals != NULL)
                text_add_bytes(&option, text, (size_t)(equals - text));
            if (equals != NULL)
                add_query(url, text_string(&option), equals + 1);
            else
                add_argument(url, name, item);
        }
    }
}

/* If the arguments give no name, adds one: for a dataset, the file's name up to the first "."; for
 * an import, the file's whole name. */
static void add_name(const struct tool_word *word, const char *path, const json_t *arguments,
                     struct text *url)
{
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1;
    bool is_import = strcmp(word->tool, "run_import") == 0;
    TEXT_AUTO name = { 0 };

    if (json_object_get(arguments, "name") != NULL)
        return;
    text_add_bytes(&name, base, is_import ? strlen(base) : strcspn(base, "."));
    add_query(url, "name", text_string(&name));
}

/* Shows the whole answer with --json or if it is about a dataset. Otherwise shows one line with the
 * run's id and the commands that show more of the run. */
static CHECKED bool show_upload(struct client *client, const char *path, const json_t *answer,
                                struct error *error)
{
    const char *id = json_get_text(json_object_get(answer, "run"), "id", NULL);
    bool known = json_get_boolean(answer, "already_known", false);
    json_auto_t *result = NULL;
    TEXT_AUTO message = { 0 };

    if (id != NULL)
        text_addf(&message, "%s: %s%s; to see more: opsbrain report %s, opsbrain audit %s\n", path,
                  id, known ? ", already stored" : "", id, id);
    else
        json_add(&message, answer);
    result = json_pack("{s:O, s:[{s:s, s:s}]}", "structuredContent", answer, "content", "type",
                       "text", "text", text_string(&message));
    return client_show(client, result, error);
}

static CHECKED bool upload(struct client *client, const struct tool_word *word, const char *path,
                           const json_t *arguments, struct error *error)
{
    TEXT_AUTO bytes = { 0 }, url = { 0 };
    json_auto_t *answer = NULL;
    struct error why;

    text_add(&url, word->upload);
    add_name(word, path, arguments, &url);
    add_arguments(&url, arguments);
    if (!read_file(path, &bytes, error))
        return false;
    if (!remote_upload(&client->remote, text_string(&url), &bytes, &answer, &why))
        return error_set(error, why.kind, "%.100s: %s", path, why.message);
    return show_upload(client, path, answer, error);
}

bool client_upload(struct client *client, const struct tool_word *word, const char *const *paths,
                   size_t count, const json_t *arguments, struct error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!upload(client, word, paths[i], arguments, error))
            return false;
    return true;
}
