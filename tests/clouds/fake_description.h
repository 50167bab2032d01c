/* SPDX-License-Identifier: Apache-2.0 */
/* Checks messages against Google's own description of an API, as Google's discovery service returns
 * it. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Reads a file in the folder ../shared/data/cloud-apis, such as "compute-v1.json". Returns NULL if
 * the file is missing or is not JSON. The caller releases the result. */
json_t *fake_description_load(const char *file);
/* Returns whether the value is an object that conforms to the schema: every member is known, is not
 * read-only, and has the right type or one of the enumerated values; 64-bit integers are strings.
 * If not, writes the path of the first wrong member to `out`; "" if the value is not an object. */
bool fake_description_check(const json_t *description, const char *schema, const json_t *value,
                            struct text *out);
