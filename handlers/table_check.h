/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of a table of tools, resources or prompts states what it must state: who may call it,
 * where it runs, what it does to others. What was forgotten is zero, and no zero means anything. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"

/* The tables end with NULL. INTERNAL names the first row that lacks something, and what. */
CHECKED bool table_check_tools(const struct tool *const *table, struct error *error);
CHECKED bool table_check_resources(const struct resource *const *table, struct error *error);
CHECKED bool table_check_prompts(const struct prompt *const *table, struct error *error);
