/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a recipe's members, by which they are checked; docs/recipes.md lists them, too. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

enum recipe_value {
    RECIPE_TEXT = 1, /* low to high bytes, printable */
    RECIPE_WORD,     /* a text without blanks */
    RECIPE_NAME,     /* letters, digits, ".", "_", "-" */
    RECIPE_CHOICE,   /* one of `choices` */
    RECIPE_DATE,     /* YYYY-MM-DD */
    RECIPE_INTEGER,  /* low to high */
    RECIPE_NUMBER,   /* low to high */
    RECIPE_BOOLEAN,
    RECIPE_WORDS,   /* low to high words */
    RECIPE_TEXTS,   /* low to high texts */
    RECIPE_OBJECT,  /* with `members` */
    RECIPE_OBJECTS, /* low to high objects with `members` */
    RECIPE_MAP,     /* low to high members of any name, each checked by `judge` */
};

struct recipe_member {
    const char *name;
    enum recipe_value value;
    bool required;
    double low, high;
    /* CHOICE: what it may be; WORDS, TEXTS: what each may be (NULL: anything). Ends with NULL. */
    const char *const *choices;
    const struct recipe_member *members; /* ends with a NULL name */
    /* MAP: checks one member; `path` is that of the map, for the error. */
    CHECKED bool (*judge)(const char *path, const char *name, const json_t *value,
                          struct error *error);
    const char *help;
};

extern const struct recipe_member recipe_members[]; /* ends with a NULL name */

/* Checks that the object has the required members of the table, each member of its type and in its
 * range, and no members outside the table except `section` (NULL: none), the member that is
 * specific to a provider. */
CHECKED bool recipe_members_check(const json_t *object, const char *section, struct error *error);

/* A value that a recipe may open to overrides, under a short name. recipe_override changes only
 * such values. */
struct recipe_opening {
    const char *name, *path;
    enum recipe_value value; /* INTEGER, NUMBER or CHOICE */
    const char *help;
};
extern const struct recipe_opening recipe_openings[]; /* ends with a NULL name */
/* Returns NULL if there is no opening of that name. Static. */
const struct recipe_opening *recipe_opening_find(const char *name);
/* Checks that every member that the recipe opens exists and has a value in its range: an override
 * changes members, but never adds one. The recipe must have passed recipe_members_check. */
CHECKED bool recipe_openings_check(const json_t *recipe, struct error *error);
/* Returns true if the name of a variable or an argument, of `length` bytes, sounds like that of a
 * credential: "HF_TOKEN", "--api-key". */
bool recipe_sounds_secret(const char *name, size_t length);
/* Finds a member of the object by its path, in which a name may contain dots. Returns NULL if there
 * is none. Borrowed. */
const json_t *recipe_member_of(const json_t *object, const char *path);
