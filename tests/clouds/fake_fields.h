/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a cloud's messages, as a JSON object of types by name: "s" string, "i" integer,
 * "b" boolean, "n" an int64 as a string, "A|B" one of these words, "map" an object of strings,
 * [TYPE], {member: TYPE}, or another type's name. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Returns whether the value is of the type. If not, `out` becomes the path of the first wrong
 * member, such as "spec.template.gpus", and sets *is_unknown if the type has no such member. */
bool fake_fields_check(const json_t *types, const char *type, const json_t *value, struct text *out,
                       bool *is_unknown);
/* Reads the types in a file of tests/data/clouds. The caller releases the result. */
json_t *fake_fields_load(const char *file);
