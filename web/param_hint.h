/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a parameter's help, which is written for callers of the tool, for the user who fills
 * in its form. */
#pragma once

#include "web/page.h"

/* Writes the help with the names that pages use for parameters and tools, and with lists as users
 * type them: "[1, 4] in place of `request_rate`" as "1, 4 in place of “Request rate”". */
void param_hint_write(const struct tool *tool, const char *help, struct html *html);
