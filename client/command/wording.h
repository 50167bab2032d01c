/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says to agents, in the words of the command line: the tools that it names become
 * commands, and their parameters flags. Lines that quote others, and rows of tables, stay. */
#pragma once

#include "base/core/text.h"

/* A tool's answer; parameters only where it says what to do next. */
void wording_add_answer(const char *answer, struct text *out);
/* A refusal of this tool, whose parameters may be quoted; NULL: of none. */
void wording_add_refusal(const char *refusal, const char *tool, struct text *out);
