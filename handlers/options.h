/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as hosts and agents write them, brought to the form that a tool's rows check:
 *
 * - rare ones, which the published schema does not list, are given in `options`, a list of texts
 * such as "window_s=10"; they are also accepted under their own name;
 * - a map may be a list of "name=value", since strict hosts allow no objects without fixed members;
 * - values that say nothing are dropped: such hosts send every argument, as "", [] or null. */
#pragma once

#include "handlers/tool.h"

#define OPTIONS_PARAM "options"

bool option_is_in_tool(const struct tool *tool);
/* Whether the value can only mean that the argument is omitted. An empty text may clear a setting,
 * an empty object a map. */
bool option_is_absent(const struct param *param, const json_t *value);
/* *out: a new reference, to the arguments themselves if there is nothing to change. */
CHECKED bool options_unfold(const struct tool *tool, const json_t *arguments, json_t **out,
                            struct error *error);
