/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which tools are listed for a client: the list fills an agent's context, and agents seldom
 * need all of it. A tool that is not listed can still be called. */
#pragma once

#include "handlers/tool.h"

/* Checks `words`: names of sets (all, fleet, measure, audit, deploy) or of tools, separated by
 * commas or spaces; "" means all. INVALID if a word is neither: the message gives the word, the
 * sets, and `what`, which says where the words came from. */
CHECKED bool tool_sets_check(const char *words, const char *what, struct error *error);
/* Returns true if `words` choose the tool. A tool that is in no set is always chosen. The caller's
 * role, and whether the client shows apps, are checked elsewhere. */
bool tool_sets_has(const struct tool *tool, const char *words);
