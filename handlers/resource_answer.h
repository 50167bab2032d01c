/* SPDX-License-Identifier: Apache-2.0 */
/* What resources use to write their text. */
#pragma once

#include "handlers/resource.h"

/* Calls a tool with these arguments (taken over), for its structure or its text. */
enum resource_form { RESOURCE_JSON, RESOURCE_TEXT };
CHECKED bool resource_answer_of_tool(struct call *call, const char *tool, json_t *arguments_take,
                                     enum resource_form form, struct text *out,
                                     struct error *error);
void resource_answer_add_json(const json_t *value, struct text *out); /* indented, for people too */
