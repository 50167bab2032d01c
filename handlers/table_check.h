/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every row of a table of tools, resources or prompts states who may call it, where it
 * runs, and what effects it has. A member that was forgotten is zero, and zero is never valid. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"

/* The tables end with NULL. INTERNAL: the message names the first incomplete row, and what it
 * lacks. */
CHECKED bool table_check_tools(const struct tool *const *table, struct error *error);
CHECKED bool table_check_resources(const struct resource *const *table, struct error *error);
CHECKED bool table_check_prompts(const struct prompt *const *table, struct error *error);
