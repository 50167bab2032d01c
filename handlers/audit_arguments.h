/* SPDX-License-Identifier: Apache-2.0 */
/* A call's arguments as stored in the audit log. */
#pragma once

#include "handlers/tool.h"

/* Returns the arguments as JSON of at most 4000 bytes, with long texts truncated and credentials
 * masked. Arguments that the tool does not have are only counted. The caller frees it. */
char *audit_arguments(const struct tool *tool, const json_t *arguments);
