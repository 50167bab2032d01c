/* SPDX-License-Identifier: Apache-2.0 */
/* What a parameter's help, which is written for whoever calls the tool, says to the person who
 * fills in its form. */
#pragma once

#include "web/page.h"

/* The parameters and tools that it names are called as pages call them, its lists are written as
 * forms take them: "[1, 4] in place of `request_rate`" as "1, 4 in place of “Request rate”". */
void param_hint_write(const struct tool *tool, const char *help, struct html *html);
