/* SPDX-License-Identifier: Apache-2.0 */
/* A call's arguments as the audit keeps them. */
#pragma once

#include "handlers/tool.h"

/* JSON of the arguments that the tool knows, long texts cut, credentials masked; of unknown ones
 * only that they were there. At most 4 KiB; heap memory. */
char *audit_arguments(const struct tool *tool, const json_t *arguments);
