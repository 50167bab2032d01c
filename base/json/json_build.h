/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a jansson tree from base/json_scan: several times as fast as jansson's own reader. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* True for exactly the documents that json_parse accepts, with the same tree; json_parse is based
 * on it. It gives no message when it returns false. The caller owns *out. */
bool json_build(const char *bytes, size_t length, json_t **out);
