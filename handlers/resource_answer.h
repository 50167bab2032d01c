/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers with which resources write their contents. */
#pragma once

#include "handlers/resource.h"

enum resource_form { RESOURCE_JSON, RESOURCE_TEXT };
/* Calls a tool with these arguments, frees them, and adds its answer to `out`. RESOURCE_JSON: the
 * structured answer, as JSON. RESOURCE_TEXT: the answer's text. */
CHECKED bool resource_answer_of_tool_take(struct call *call, const char *tool,
                                          json_t *arguments_take, enum resource_form form,
                                          struct text *out, struct error *error);
/* Adds the value as indented JSON, which people can read, too. */
void resource_answer_add_json(const json_t *value, struct text *out);
