/* SPDX-License-Identifier: Apache-2.0 */
/* A call's arguments as stored in the audit log. */
#pragma once

#include "handlers/tool.h"

/* Returns the arguments as JSON, with long texts truncated and credentials masked; {"too
 * long":true} if that JSON would have more than 4000 bytes. From a list, only the numbers among its
 * first 64 entries are kept; from a map, at most 64 entries whose values are strings. Arguments
 * that the tool does not have are only counted. The caller frees the result. */
char *audit_arguments(const struct tool *tool, const json_t *arguments);
