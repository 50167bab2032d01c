/* SPDX-License-Identifier: Apache-2.0 */
/* A call's arguments as stored in the audit log. */
#pragma once

#include "handlers/tool.h"

/* JSON of the arguments that the tool has, with long texts cut and credentials masked; of unknown
 * ones only the presence is noted. At most 4 KiB; heap memory. */
char *audit_arguments(const struct tool *tool, const json_t *arguments);
