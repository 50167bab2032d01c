/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the part of YAML that is used for configuration, for example by kubectl: block mappings and
 * sequences; plain, quoted and block scalars; and flow collections on one line. Block scalars lose
 * their indentation, blanks at the ends of lines, empty lines, lines that begin with '#', and the
 * line break at the end. Anchors, aliases, tags and complex keys are refused. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Reads a document of YAML or, if it begins with '{', a JSON object. In YAML, plain true and false
 * become booleans; plain null, ~ and a missing value become null; and every other scalar becomes a
 * text, even a number. INVALID if the document is anything else, has more than 20,000 lines, or is
 * nested too deeply; the message never repeats the content, which may be secret. *out is a new
 * reference. */
CHECKED bool yaml_parse(const char *bytes, size_t length, json_t **out, struct error *error);
