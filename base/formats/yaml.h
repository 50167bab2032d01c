/* SPDX-License-Identifier: Apache-2.0 */
/* The part of YAML in which kubectl and people write configuration: block mappings and sequences,
 * plain, quoted and block scalars, and flow collections on one line. Anchors, aliases, tags and
 * complex keys are refused. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Also reads JSON. Plain true and false are booleans, null and ~ are null, and every other scalar
 * is a text, numbers too. INVALID names the line, and never repeats its content. The caller owns
 * *out. */
CHECKED bool yaml_parse(const char *bytes, size_t length, json_t **out, struct error *error);
