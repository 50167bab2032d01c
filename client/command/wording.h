/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a text that the server wrote for agents, for the command line: names of tools become
 * commands, and their parameters flags. Quoted lines and rows of tables are unchanged. */
#pragma once

#include "base/core/text.h"

/* Adds a tool's answer; parameters are rewritten only in lines that say what to do next. */
void wording_add_answer(const char *answer, struct text *out);
/* Adds an error. Parameters of `tool`, which was called, are rewritten even where they are quoted,
 * and a list of them is replaced by a reference to the help. NULL or "": no tool was called. */
void wording_add_refusal(const char *refusal, const char *tool, struct text *out);
