/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the messages to a cloud against types. `types` is a JSON object that has each type by
 * name. A type is one of:
 * - "s", a string; "i", an integer; "b", a boolean; "n", a non-negative int64 as a string;
 * - "A|B", one of these words, or an integer;
 * - "map", an object whose values are strings;
 * - [TYPE], an array of that type;
 * - {member: TYPE, ...}, an object that can have these members;
 * - the name of another type. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Returns whether the value has the type. If not, writes the path of the first wrong member to
 * `out`, such as "spec.template.gpus", and sets *is_unknown to whether the type has no such member.
 * The path is "" if the value itself is wrong. */
bool fake_fields_check(const json_t *types, const char *type, const json_t *value, struct text *out,
                       bool *is_unknown);
/* Reads types from a file in tests/data/clouds; aborts if it cannot. The caller releases them. */
json_t *fake_fields_load(const char *file);
