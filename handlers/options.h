/* SPDX-License-Identifier: Apache-2.0 */
/* Converts arguments from the forms in which hosts and agents write them to the form that a tool's
 * `params` describe:
 *
 * - rare arguments, which the published schema does not list, are given in `options`, a list of
 *   texts such as "window_s=10"; they are also accepted under their own name;
 * - a map may be given as a list of strings such as "name=value", since strict hosts do not allow
 *   objects without fixed members;
 * - values that can only mean that the argument is omitted are dropped, since strict hosts send
 *   every argument, those without a value as "", [] or null. */
#pragma once

#include "handlers/tool.h"

#define OPTIONS_PARAM "options"

/* Returns true if some of the tool's arguments are rare, so that it has the argument `options`. */
bool options_has(const struct tool *tool);
/* Returns true if the value can only mean that the argument is omitted. There are two
 * exceptions: if the parameter's minimum length is 0, an empty text may clear a setting; and an
 * empty object clears a map. */
bool option_is_absent(const struct param *param, const json_t *value);
/* Converts the arguments. *out: a new reference, to the arguments themselves if there is nothing to
 * change. INVALID: `options` or an entry cannot be read, an argument is given twice with different
 * values, or there are too many options. */
CHECKED bool options_unfold(const struct tool *tool, const json_t *arguments, json_t **out,
                            struct error *error);
