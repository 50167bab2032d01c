/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the part of YAML that is used for configuration, for example by kubectl: block mappings and
 * sequences, plain, quoted and block scalars, and flow collections on one line. Anchors, aliases,
 * tags and complex keys are refused. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Reads a document; it may also be JSON. Plain true and false become booleans, null and ~ become
 * null, and every other scalar a text, even a number. INVALID if it is neither JSON nor such YAML;
 * the message never repeats the content, which may be secret. *out is a new reference. */
CHECKED bool yaml_parse(const char *bytes, size_t length, json_t **out, struct error *error);
