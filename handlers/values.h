/* SPDX-License-Identifier: Apache-2.0 */
/* The types of JSON values in arguments and answers; how error messages show values and suggest
 * names. */
#pragma once

#include "base/json/json.h"
#include "handlers/tool.h"

/* Describes one of the types in `enum value_type`. */
struct value_kind {
    const char *schema_type;              /* the type's name in JSON Schema */
    const char *phrase;                   /* as in "<name> must be <phrase>" */
    bool (*accepts)(const json_t *value); /* checks the type; limits are checked elsewhere */
};
const struct value_kind *value_kind(enum value_type type); /* not to be freed */

const struct param *value_param_find(const struct tool *tool, const char *name); /* NULL: none */
/* Adds the range of a number, " from 1 to 600", or of the numbers in a list, ", each from 1 to
 * 600"; nothing for other types, or if any number is allowed. */
void value_param_range(const struct param *param, struct text *out);

/* Writes a value for an error message: short, printable, with credentials masked. Returns `out`. */
#define VALUE_SHOWN_SIZE 64
const char *value_show(const json_t *value, char out[VALUE_SHOWN_SIZE]);
const char *value_show_text(const char *text, char out[VALUE_SHOWN_SIZE]);
/* Writes a URL with "(hidden)" in place of its query and its fragment. If the URL might contain a
 * user name or a password, writes only "(hidden)". */
const char *value_show_url(const char *url, char out[VALUE_SHOWN_SIZE]);

/* Checks that `value` is a valid name for a target or a deployment (text_is_name). INVALID: the
 * error message names the argument. */
CHECKED bool value_check_name(const char *argument, const char *value, struct error *error);

/* The number of edits that turn one name into the other (Levenshtein distance). Only the first 64
 * bytes of each name are compared. */
unsigned value_name_distance(const char *a, const char *b);
/* Returns true if `given` probably means `known`. */
bool value_name_is_near(const char *given, const char *known);
/* Returns true if other products call our argument `ours` by the name `given`. */
bool value_name_is_synonym(const char *given, const char *ours);
