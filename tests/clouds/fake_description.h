/* SPDX-License-Identifier: Apache-2.0 */
/* Google's own description of an API, as its discovery service gives it. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Reads a file of ../shared/data/cloud-apis, "compute-v1.json"; NULL if it is absent. New
 * reference. */
json_t *fake_description_load(const char *file);
/* Whether the value conforms to the schema: members, types, enumerations, and 64-bit numbers as
 * strings. `out` gets the path of the first member that does not. */
bool fake_description_check(const json_t *description, const char *schema, const json_t *value,
                            struct text *out);
