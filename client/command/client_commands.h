/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that ask a running server. Each gets its own name as argv[0] and returns the exit
 * status. */
#pragma once

#include "base/core/error.h"
#include "base/core/text.h"

int client_login(int argc, char *const *argv);
int client_logout(int argc, char *const *argv);
int client_call_command(int argc, char *const *argv);  /* opsbrain call TOOL name=value ... */
int client_tools_command(int argc, char *const *argv); /* opsbrain tools */
int client_completion(int argc, char *const *argv);    /* opsbrain completion bash|zsh|fish */
int client_complete(int argc, char *const *argv);      /* what the scripts of those ask */

/* A command that is the short name of a tool (client/command/tool_words.h), or a tool's own name.
 */
int client_word(int argc, char *const *argv);

/* What a short name or a tool takes; false: there is none of that name here, nor at the server. */
CHECKED bool client_help(const char *name, struct text *out, struct error *error);
/* Writes help to standard output, wrapped on a terminal. */
bool client_help_print(const struct text *text);
/* A line for each command, for `opsbrain help`. */
void client_help_overview(struct text *out);
