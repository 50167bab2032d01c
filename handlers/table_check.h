/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every row states what it must: a prompt who may use it, a resource also where it is
 * read, a tool also what effects it has, and the types of its arguments and fields. A member that
 * was forgotten is zero, which is not valid for any of these. */
#pragma once

#include "handlers/prompt.h"
#include "handlers/resource.h"
#include "handlers/tool.h"

/* The tables end with NULL. INTERNAL: the message names the first incomplete row, and what it
 * lacks. */
CHECKED bool table_check_tools(const struct tool *const *table, struct error *error);
CHECKED bool table_check_resources(const struct resource *const *table, struct error *error);
CHECKED bool table_check_prompts(const struct prompt *const *table, struct error *error);
