/* SPDX-License-Identifier: Apache-2.0 */
/* Checks messages against Google's own description of an API, as its discovery service returns it.
 */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Reads a file of ../shared/data/cloud-apis, such as "compute-v1.json"; NULL if it is missing, or
 * not JSON. The caller releases the result. */
json_t *fake_description_load(const char *file);
/* Returns whether the value, an object, conforms to the schema: members, none of them read-only,
 * types, enumerations, and 64-bit numbers as strings. If not, `out` becomes the path of the first
 * wrong member; "" if the value is not an object. */
bool fake_description_check(const json_t *description, const char *schema, const json_t *value,
                            struct text *out);
