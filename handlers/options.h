/* SPDX-License-Identifier: Apache-2.0 */
/* Converts arguments from the forms in which hosts and agents write them to the form that a tool's
 * `params` describe:
 *
 * - rare arguments, which the published schema does not list, are given in `options`, a list of
 *   strings such as "window_s=10"; they are also accepted under their own names;
 * - a map may be given as a list of strings such as "name=value", since strict hosts do not allow
 *   objects without fixed members;
 * - values that can only mean that the argument is omitted are dropped, since strict hosts send
 *   every argument, and send "", [] or null for those without a value. */
#pragma once

#include "handlers/tool.h"

#define OPTIONS_PARAM "options"

/* Returns true if some of the tool's arguments are rare, so that it has the argument `options`. */
bool options_has(const struct tool *tool);
/* Returns true if the value (NULL: none) can only mean that the argument is omitted: NULL, null, ""
 * or []. "" does not mean that for a VALUE_TEXT whose minimum length is 0: there, it may clear a
 * setting. {} never does: it clears a map. */
bool option_is_absent(const struct param *param, const json_t *value);
/* Converts the arguments. *out: a new reference, to the arguments themselves if there is nothing to
 * change. INVALID: `options` or an entry cannot be read, an argument is given twice with different
 * values, or the list `options` is too long. */
CHECKED bool options_unfold(const struct tool *tool, const json_t *arguments, json_t **out,
                            struct error *error);
