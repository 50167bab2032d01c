/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_key.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/core/text.h"

#define LINE_SIZE 1024
#define KEY_LENGTH_LEAST 32

static void make_key(const char *line, struct audit_key *out)
{
    char hex[DIGEST_TEXT_SIZE];
    TEXT_AUTO id = { 0 };

    digest_sha256(line, strlen(line), out->bytes);
    text_addf(&id, "id of an audit key: %s", line);
    digest_sha256_text(id.data, id.length, hex);
    text_copy(out->id, sizeof out->id, hex);
}

static CHECKED bool add_key(const char *path, char *line, struct audit_keys *keys,
                            struct error *error)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '\0')
        return true;
    if (strlen(line) < KEY_LENGTH_LEAST)
        return error_set(error, ERROR_INVALID,
                         "audit_key: a line of %.200s has %zu characters, but a key needs at least "
                         "%d: create one with `openssl rand -hex 32`",
                         path, strlen(line), KEY_LENGTH_LEAST);
    if (keys->count == AUDIT_KEYS_LIMIT)
        return error_set(error, ERROR_INVALID,
                         "audit_key: %.200s has more than %d keys: remove the oldest ones", path,
                         AUDIT_KEYS_LIMIT);
    make_key(line, &keys->keys[keys->count++]);
    return true;
}

static CHECKED bool read_lines(const char *path, FILE *file, struct audit_keys *keys,
                               struct error *error)
{
    char line[LINE_SIZE];
    bool good = true;

    while (good && fgets(line, sizeof line, file) != NULL)
        good = strlen(line) < LINE_SIZE - 1
                   ? add_key(path, line, keys, error)
                   : error_set(error, ERROR_INVALID,
                               "audit_key: %.200s has a line of more than %d characters: write one "
                               "key per line",
                               path, LINE_SIZE - 2);
    explicit_bzero(line, sizeof line);
    if (!good)
        return false;
    if (ferror(file) != 0)
        return error_set(error, ERROR_INVALID, "audit_key: %.200s cannot be read: %s", path,
                         strerror(errno));
    return keys->count > 0
           || error_set(error, ERROR_INVALID,
                        "audit_key: %.200s has no key: write one key per line", path);
}

bool audit_keys_read(const char *path, struct audit_keys *out, struct error *error)
{
    FILE *file = fopen(path, "re");
    struct audit_keys keys = { 0 };
    bool good;

    if (file == NULL)
        return error_set(error, ERROR_INVALID, "audit_key: %.200s cannot be read: %s", path,
                         strerror(errno));
    good = read_lines(path, file, &keys, error);
    fclose(file);
    if (good)
        *out = keys;
    return good;
}

const struct audit_key *audit_keys_find(const struct audit_keys *keys, const char *id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->keys[i].id, id) == 0)
            return &keys->keys[i];
    return NULL;
}

const char *audit_keys_current(const struct audit_keys *keys)
{
    return keys->count == 0 ? "" : keys->keys[0].id;
}
