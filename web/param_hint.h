/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a parameter's help text, which addresses callers of the tool, for users who fill in the
 * tool's form. */
#pragma once

#include "web/page.h"

/* Writes the help text with the names that pages use for parameters and tools, and with lists as
 * users type them. For example, "[1, 4] in place of `request_rate`" becomes "1, 4 in place of
 * “Request rate”". */
void param_hint_write(const struct tool *tool, const char *help, struct html *html);
