/* SPDX-License-Identifier: Apache-2.0 */
/* Google's own description of an API, as its discovery service gives it. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

/* Of ../shared/data/cloud-apis, "compute-v1.json"; NULL where that is absent. New reference. */
json_t *fake_description_load(const char *file);
/* Whether the value is of the schema: members, types, words of enumerations, and that 64 bits are a
 * text. `out` gets the path of the first member that is not. */
bool fake_description_check(const json_t *description, const char *schema, const json_t *value,
                            struct text *out);
