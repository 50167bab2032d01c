/* SPDX-License-Identifier: Apache-2.0 */
/* Checks an object against a table of members: all required members must be there, each value must
 * have the right type and be in range, and members that are not in the table are refused, except
 * the section with the settings for the recipe's provider. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/recipes/recipe_members.h"

#define PATH_SIZE 256
#define SHOWN_BYTES 60
#define SECTION_MEMBERS_MAX 32

static CHECKED bool check_object(const json_t *object, const struct recipe_member *members,
                                 const char *path, const char *section, struct error *error);

/* Sets an error such as: the recipe's "port" must be an integer from 1 to 65535: it is 70000. */
static CHECKED bool refuse(const char *path, const json_t *value, const char *what,
                           struct error *error)
{
    TEXT_AUTO shown = { 0 };
    char *written = json_write(value);

    text_add_printable(&shown, written, strlen(written), SHOWN_BYTES);
    free(written);
    return error_set(error, ERROR_INVALID, "the recipe's \"%s\" must be %s: it is %s", path, what,
                     text_string(&shown));
}

static bool is_printable(const json_t *value)
{
    const char *text = json_string_value(value);

    if (text == NULL || strlen(text) != json_string_length(value))
        return false;
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

static bool is_choice(const char *const *choices, const json_t *value)
{
    for (size_t i = 0; choices[i] != NULL; i++)
        if (json_is_string(value) && strcmp(choices[i], json_string_value(value)) == 0)
            return true;
    return false;
}

static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";

    if (strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i] != '\0'; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

static CHECKED bool check_text(const struct recipe_member *member, const char *path,
                               const json_t *value, struct error *error)
{
    size_t length = json_string_length(value);
    char what[128];

    if (member->value == RECIPE_DATE)
        return (json_is_string(value) && is_date(json_string_value(value)))
               || refuse(path, value, "a date, YYYY-MM-DD", error);
    snprintf(what, sizeof what, "a %s of %.0f to %.0f bytes",
             member->value == RECIPE_NAME   ? "name (letters, digits, \".\", \"_\", \"-\")"
             : member->value == RECIPE_WORD ? "string (without spaces)"
                                            : "string",
             member->low, member->high);
    if (!is_printable(value) || (double)length < member->low || (double)length > member->high)
        return refuse(path, value, what, error);
    if (member->value == RECIPE_NAME && !text_is_name(json_string_value(value)))
        return refuse(path, value, what, error);
    return member->value != RECIPE_WORD || strchr(json_string_value(value), ' ') == NULL
           || refuse(path, value, what, error);
}

static CHECKED bool check_choice(const struct recipe_member *member, const char *path,
                                 const json_t *value, struct error *error)
{
    TEXT_AUTO what = { 0 };

    if (is_choice(member->choices, value))
        return true;
    text_add(&what, "one of");
    for (size_t i = 0; member->choices[i] != NULL; i++)
        text_addf(&what, "%s \"%s\"", i == 0 ? "" : ",", member->choices[i]);
    return refuse(path, value, text_string(&what), error);
}

static CHECKED bool check_number(const struct recipe_member *member, const char *path,
                                 const json_t *value, struct error *error)
{
    bool is_integer = member->value == RECIPE_INTEGER;
    double number = json_number_value(value);
    char what[128];

    if ((is_integer ? json_is_integer(value) : json_is_number(value)) && number >= member->low
        && number <= member->high)
        return true;
    snprintf(what, sizeof what, "%s from %g to %.0f", is_integer ? "an integer" : "a number",
             member->low, member->high);
    return refuse(path, value, what, error);
}

static CHECKED bool check_count(const struct recipe_member *member, const char *path,
                                const json_t *value, size_t count, const char *group,
                                struct error *error)
{
    char what[128];

    if ((double)count >= member->low && (double)count <= member->high)
        return true;
    snprintf(what, sizeof what, "%s with %.0f to %.0f entries", group, member->low, member->high);
    return refuse(path, value, what, error);
}

static CHECKED bool check_texts(const struct recipe_member *member, const char *path,
                                const json_t *value, struct error *error)
{
    const struct recipe_member each = {
        .value = member->choices != NULL         ? RECIPE_CHOICE
                 : member->value == RECIPE_WORDS ? RECIPE_WORD
                                                 : RECIPE_TEXT,
        .low = 1,
        .high = 512,
        .choices = member->choices,
    };
    const json_t *text;
    size_t i;

    if (!json_is_array(value))
        return refuse(path, value, "a list of strings", error);
    if (!check_count(member, path, value, json_array_size(value), "a list of strings", error))
        return false;
    json_array_foreach(value, i, text)
        if (!(each.value == RECIPE_CHOICE ? check_choice(&each, path, text, error)
                                          : check_text(&each, path, text, error)))
            return false;
    return true;
}

static CHECKED bool check_objects(const struct recipe_member *member, const char *path,
                                  const json_t *value, struct error *error)
{
    const json_t *object;
    size_t i;

    if (!json_is_array(value))
        return refuse(path, value, "a list of objects", error);
    if (!check_count(member, path, value, json_array_size(value), "a list of objects", error))
        return false;
    json_array_foreach(value, i, object)
        if (!check_object(object, member->members, path, NULL, error))
            return false;
    return true;
}

static CHECKED bool check_map(const struct recipe_member *member, const char *path,
                              const json_t *value, struct error *error)
{
    const json_t *each;
    const char *name;

    if (!json_is_object(value))
        return refuse(path, value, "an object", error);
    if (!check_count(member, path, value, json_object_size(value), "an object", error))
        return false;
    json_object_foreach(json_iterable(value), name, each)
        if (!member->judge(path, name, each, error))
            return false;
    return true;
}

static CHECKED bool check_value(const struct recipe_member *member, const char *path,
                                const json_t *value, struct error *error)
{
    switch (member->value) {
    case RECIPE_TEXT:
    case RECIPE_WORD:
    case RECIPE_NAME:
    case RECIPE_DATE:
        return check_text(member, path, value, error);
    case RECIPE_CHOICE:
        return check_choice(member, path, value, error);
    case RECIPE_INTEGER:
    case RECIPE_NUMBER:
        return check_number(member, path, value, error);
    case RECIPE_BOOLEAN:
        return json_is_boolean(value) || refuse(path, value, "true or false", error);
    case RECIPE_WORDS:
    case RECIPE_TEXTS:
        return check_texts(member, path, value, error);
    case RECIPE_OBJECT:
        return check_object(value, member->members, path, NULL, error);
    case RECIPE_OBJECTS:
        return check_objects(member, path, value, error);
    case RECIPE_MAP:
        return check_map(member, path, value, error);
    }
    return error_set(error, ERROR_INTERNAL, "the table of recipe members has no type for %s", path);
}

static const struct recipe_member *find(const struct recipe_member *members, const char *name)
{
    for (; members->name != NULL; members++)
        if (strcmp(members->name, name) == 0)
            return members;
    return NULL;
}

/* Checks only types and numbers of entries in the section for a provider. The provider checks the
 * values when it builds requests from them. */
static CHECKED bool check_section(const char *name, const json_t *value, struct error *error)
{
    const json_t *member, *item;
    const char *key;
    size_t i;

    if (!json_is_object(value) || json_object_size(value) > SECTION_MEMBERS_MAX)
        return refuse(name, value, "an object of at most 32 members", error);
    json_object_foreach(json_iterable(value), key, member) {
        bool good = json_is_boolean(member) || json_is_number(member) || is_printable(member)
                    || (json_is_array(member) && json_array_size(member) <= SECTION_MEMBERS_MAX);

        json_array_foreach(member, i, item)
            good = good && is_printable(item);
        if (!good) {
            TEXT_AUTO path = { 0 };

            text_addf(&path, "%s.", name);
            text_add_printable(&path, key, strlen(key), SHOWN_BYTES);
            return refuse(text_string(&path), member,
                          "a string, a number, a boolean or a list of at most 32 strings", error);
        }
    }
    return true;
}

static CHECKED bool refuse_unknown(const char *path, const char *name, struct error *error)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, name, strlen(name), SHOWN_BYTES);
    return error_set(error, ERROR_INVALID,
                     "the recipe has \"%s%s%s\", which is not a member of a recipe: remove it, or "
                     "use one that docs/recipes.md lists",
                     path, path[0] == '\0' ? "" : ".", text_string(&shown));
}

static CHECKED bool check_object(const json_t *object, const struct recipe_member *members,
                                 const char *path, const char *section, struct error *error)
{
    const json_t *value;
    const char *name;
    char below[PATH_SIZE];

    if (!json_is_object(object))
        return refuse(path, object, "an object", error);
    for (size_t i = 0; members[i].name != NULL; i++)
        if (members[i].required && json_object_get(object, members[i].name) == NULL)
            return error_set(error, ERROR_INVALID, "the recipe lacks \"%s%s%s\": %s", path,
                             path[0] == '\0' ? "" : ".", members[i].name, members[i].help);
    json_object_foreach(json_iterable(object), name, value) {
        const struct recipe_member *member = find(members, name);

        if (member == NULL && section != NULL && strcmp(section, name) == 0) {
            if (!check_section(name, value, error))
                return false;
            continue;
        }
        if (member == NULL)
            return refuse_unknown(path, name, error);
        snprintf(below, sizeof below, "%s%s%s", path, path[0] == '\0' ? "" : ".", name);
        if (!check_value(member, below, value, error))
            return false;
    }
    return true;
}

bool recipe_members_check(const json_t *object, const char *section, struct error *error)
{
    return check_object(object, recipe_members, "", section, error);
}
