/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that no row of a table is incomplete. Every row must state a role. A resource and a tool
 * must also state a placement. A tool must also have params or an input_schema, state the types of
 * its params and fields and, unless it only reads, state its effects. A member that was forgotten
 * is 0, which means "not stated". */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"

/* The tables end with NULL. INTERNAL: the error message names the first row that is incomplete or
 * contradicts itself, and says what is wrong. */
CHECKED bool table_check_tools(const struct tool *const *table, struct error *error);
CHECKED bool table_check_resources(const struct resource *const *table, struct error *error);
CHECKED bool table_check_prompts(const struct prompt *const *table, struct error *error);
