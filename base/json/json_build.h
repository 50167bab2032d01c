/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a jansson tree with json_scan: several times as fast as jansson's own reader. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Accepts the same documents as json_parse, which calls it. Returns false, without an error
 * message, for all others. *out is a new reference. */
bool json_build(const char *bytes, size_t length, json_t **out);
