/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the server's texts, which are written for agents, to the command line: names of tools
 * become commands, and names of parameters become flags. Quoted lines and rows of tables are
 * unchanged. */
#pragma once

#include "base/core/text.h"

/* Adds a tool's answer; parameters are rewritten only in lines that say what to do next. */
void wording_add_answer(const char *answer, struct text *out);
/* Adds an error message. `tool` is the tool that was called; NULL or "": none. Its parameters are
 * rewritten even where they are quoted, and a list of them becomes a reference to the help. */
void wording_add_refusal(const char *refusal, const char *tool, struct text *out);
