/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a server's text for agents for the command line: names of tools become commands, and
 * their parameters flags. Quoted lines and rows of tables are unchanged. */
#pragma once

#include "base/core/text.h"

/* Rewrites a tool's answer; parameters only in the line on what to do next. */
void wording_add_answer(const char *answer, struct text *out);
/* Rewrites an error of this tool, whose parameters may be quoted; NULL: of no tool. */
void wording_add_refusal(const char *refusal, const char *tool, struct text *out);
