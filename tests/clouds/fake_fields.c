/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

struct check {
    const json_t *types;
    struct text *out;
    bool *is_unknown;
};

static bool check_type(const struct check *check, const json_t *type, const json_t *value,
                       const char *path);

static bool fail(const struct check *check, const char *path, bool is_unknown)
{
    text_clear(check->out);
    text_add(check->out, path);
    *check->is_unknown = is_unknown;
    return false;
}

static bool check_members(const struct check *check, const json_t *members, const json_t *value,
                          const char *path)
{
    const json_t *member;
    const char *name;
    char below[512];

    if (!json_is_object(value))
        return fail(check, path, false);
    json_object_foreach(json_iterable(value), name, member) {
        const json_t *type = json_object_get(members, name);

        snprintf(below, sizeof below, "%.400s%s%.60s", path, path[0] != '\0' ? "." : "", name);
        if (type == NULL)
            return fail(check, below, true);
        if (!check_type(check, type, member, below))
            return false;
    }
    return true;
}

static bool check_items(const struct check *check, const json_t *type, const json_t *value,
                        const char *path)
{
    const json_t *item;
    size_t i;

    if (!json_is_array(value))
        return fail(check, path, false);
    json_array_foreach(value, i, item)
        if (!check_type(check, json_array_get(type, 0), item, path))
            return false;
    return true;
}

static bool check_map(const struct check *check, const json_t *value, const char *path)
{
    const json_t *member;
    const char *name;

    if (!json_is_object(value))
        return fail(check, path, false);
    json_object_foreach(json_iterable(value), name, member)
        if (!json_is_string(member))
            return fail(check, path, false);
    return true;
}

/* Returns whether the word is one of `words`, which has the form "A|B|C". */
static bool is_word_of(const char *words, const char *word)
{
    size_t length = word != NULL ? strlen(word) : 0;

    while (length > 0 && *words != '\0') {
        size_t end = strcspn(words, "|");

        if (end == length && strncmp(words, word, length) == 0)
            return true;
        words += end + (words[end] == '|');
    }
    return false;
}

static bool is_number(const char *text)
{
    return text != NULL && text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool check_type(const struct check *check, const json_t *type, const json_t *value,
                       const char *path)
{
    const char *name = json_string_value(type);

    if (json_is_object(type))
        return check_members(check, type, value, path);
    if (json_is_array(type))
        return check_items(check, type, value, path);
    if (strcmp(name, "map") == 0)
        return check_map(check, value, path);
    if (strchr(name, '|') != NULL) /* Google also accepts an enumerated value's number */
        return json_is_integer(value) || is_word_of(name, json_string_value(value))
               || fail(check, path, false);
    if (strcmp(name, "n") == 0)
        return is_number(json_string_value(value)) || fail(check, path, false);
    if (strcmp(name, "s") == 0)
        return json_is_string(value) || fail(check, path, false);
    if (strcmp(name, "i") == 0)
        return json_is_integer(value) || fail(check, path, false);
    if (strcmp(name, "b") == 0)
        return json_is_boolean(value) || fail(check, path, false);
    return check_type(check, json_object_get(check->types, name), value, path);
}

bool fake_fields_check(const json_t *types, const char *type, const json_t *value, struct text *out,
                       bool *is_unknown)
{
    const struct check check = { types, out, is_unknown };

    return check_type(&check, json_object_get(types, type), value, "");
}

json_t *fake_fields_load(const char *file)
{
    char path[512];
    json_t *types;

    snprintf(path, sizeof path, SOURCE_DIR "/tests/data/clouds/%s", file);
    types = json_load_file(path, 0, NULL);
    if (types == NULL)
        abort();
    return types;
}
