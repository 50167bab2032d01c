/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a cloud's messages against types: a JSON object that has each type by name. A type is "s"
 * string, "i" integer, "b" boolean, "n" a non-negative int64 as a string, "A|B" one of these words
 * or an integer, "map" an object of strings, [TYPE], {member: TYPE}, or another type's name. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Returns whether the value is of the type. If not, writes the path of the first wrong member to
 * `out`, such as "spec.template.gpus", and whether the type lacks that member to *is_unknown. */
bool fake_fields_check(const json_t *types, const char *type, const json_t *value, struct text *out,
                       bool *is_unknown);
/* Reads the types in a file of tests/data/clouds; aborts if it cannot. The caller releases the
 * result. */
json_t *fake_fields_load(const char *file);
