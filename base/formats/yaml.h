/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the subset of YAML that configuration files such as kubectl's use: block mappings and
 * sequences; plain, quoted and block scalars; and flow collections on one line. Block scalars lose
 * their indentation, trailing whitespace, empty lines, lines that begin with '#', and the final
 * line break. Anchors, aliases, tags and complex keys are refused. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

/* Reads a YAML document or, if the bytes begin with '{', a JSON object. In YAML, unquoted true and
 * false become booleans; unquoted null, ~ and a missing value become null; and every other scalar,
 * even a number, becomes a string. INVALID if the document is anything else, has more than 20,000
 * lines (empty lines and comments do not count), or is nested too deeply; the error message never
 * quotes the content, which may be secret. *out is a new reference. */
CHECKED bool yaml_parse(const char *bytes, size_t length, json_t **out, struct error *error);
