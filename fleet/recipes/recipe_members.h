/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a recipe: one table for reading, checking and documenting them. */
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
    RECIPE_BOOLEAN,  /* */
    RECIPE_WORDS,    /* low to high words */
    RECIPE_TEXTS,    /* low to high texts */
    RECIPE_OBJECT,   /* of `members` */
    RECIPE_OBJECTS,  /* low to high of them */
    RECIPE_MAP,      /* low to high members, each judged by `judge` */
};

struct recipe_member {
    const char *name;
    enum recipe_value value;
    bool required;
    double low, high;
    const char *const *choices;          /* CHOICE: ends with NULL */
    const struct recipe_member *members; /* ends with a NULL name */
    /* MAP: `path` is the member's own, for the sentence. */
    CHECKED bool (*judge)(const char *path, const char *name, const json_t *value,
                          struct error *error);
    const char *help;
};

extern const struct recipe_member recipe_members[]; /* ends with a NULL name */

/* Whether the object has the members, and no others but `other`, whose values are a provider's
 * (NULL: none). */
CHECKED bool recipe_members_check(const json_t *object, const char *other, struct error *error);

/* What a recipe may open to other values: the only places that recipe_override writes to. */
struct recipe_opening {
    const char *name, *path;
    enum recipe_value value; /* INTEGER, NUMBER or CHOICE */
    const char *help;
};
extern const struct recipe_opening recipe_openings[]; /* ends with a NULL name */
const struct recipe_opening *recipe_opening_find(const char *name);
/* Whether every member that the recipe opens is there, and its value is in the range: an override
 * changes what is there, it never adds. */
CHECKED bool recipe_openings_check(const json_t *recipe, struct error *error);
/* Whether the name of a variable or an argument, of this many bytes, is one of a credential:
 * "HF_TOKEN", "--api-key". */
bool recipe_sounds_secret(const char *name, size_t length);
/* A member of the object by its path: at each level the rest of it may be one name with dots. NULL:
 * it is not there. */
const json_t *recipe_member_of(const json_t *object, const char *path);
