/* SPDX-License-Identifier: Apache-2.0 */
/* What resources use to write their text. */
#pragma once

#include "handlers/resource.h"

enum resource_form { RESOURCE_JSON, RESOURCE_TEXT };
/* Calls a tool with these arguments, which it frees, and adds the answer's structure or its text to
 * `out`. */
CHECKED bool resource_answer_of_tool_take(struct call *call, const char *tool,
                                          json_t *arguments_take, enum resource_form form,
                                          struct text *out, struct error *error);
/* Adds the value as JSON that is indented, so that people can read it too. */
void resource_answer_add_json(const json_t *value, struct text *out);
