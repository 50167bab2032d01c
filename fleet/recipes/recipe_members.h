/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the members that a recipe can have, against which recipes are checked.
 * docs/recipes.md describes the members for users. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

enum recipe_value {
    RECIPE_TEXT = 1, /* a printable string of `low` to `high` bytes */
    RECIPE_WORD,     /* like RECIPE_TEXT, but without spaces */
    RECIPE_NAME,     /* like RECIPE_TEXT, but only letters, digits, ".", "_" and "-" */
    RECIPE_CHOICE,   /* one of `choices` */
    RECIPE_DATE,     /* YYYY-MM-DD */
    RECIPE_INTEGER,  /* from `low` to `high` */
    RECIPE_NUMBER,   /* from `low` to `high` */
    RECIPE_BOOLEAN,
    RECIPE_WORDS,   /* a list of `low` to `high` strings without spaces */
    RECIPE_TEXTS,   /* a list of `low` to `high` strings */
    RECIPE_OBJECT,  /* an object with `members` */
    RECIPE_OBJECTS, /* a list of `low` to `high` objects, each with `members` */
    RECIPE_MAP, /* an object with `low` to `high` members of any name, each checked by `judge` */
};

struct recipe_member {
    const char *name;
    enum recipe_value value;
    bool required;
    double low, high;
    /* CHOICE: the values allowed. WORDS, TEXTS: the values allowed for each entry; NULL: any. The
     * list ends with NULL. */
    const char *const *choices;
    const struct recipe_member *members; /* ends with a NULL name */
    /* MAP: checks one member; `path` is the map's path, for the error message. */
    CHECKED bool (*judge)(const char *path, const char *name, const json_t *value,
                          struct error *error);
    const char *help;
};

extern const struct recipe_member recipe_members[]; /* ends with a NULL name */

/* Checks an object against the table: all required members must be there, each value must have the
 * right type and be in range, and members that are not in the table are refused, except `section`
 * (NULL: none), which has the settings for one provider. */
CHECKED bool recipe_members_check(const json_t *object, const char *section, struct error *error);

/* A value that a recipe can open to overrides, under a short name. recipe_override changes no other
 * values. */
struct recipe_opening {
    const char *name, *path;
    enum recipe_value value; /* INTEGER, NUMBER or CHOICE */
    const char *help;
};
extern const struct recipe_opening recipe_openings[]; /* ends with a NULL name */
/* Returns NULL if there is no opening with that name. Static. */
const struct recipe_opening *recipe_opening_find(const char *name);
/* Checks that the recipe has every member that it opens (an override changes members, but never
 * adds one), with a value that "overrides" allows. The recipe must have passed
 * recipe_members_check. */
CHECKED bool recipe_openings_check(const json_t *recipe, struct error *error);
/* Returns true if the first `length` bytes of a variable's or argument's name sound like the name
 * of a credential: "HF_TOKEN", "--api-key". */
bool recipe_sounds_secret(const char *name, size_t length);
/* Finds a member of the object by its path. The names in the path can contain dots. Returns NULL if
 * there is no such member. Borrowed. */
const json_t *recipe_member_of(const json_t *object, const char *path);
