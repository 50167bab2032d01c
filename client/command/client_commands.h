/* SPDX-License-Identifier: Apache-2.0 */
/* The client's commands, most of which call a running server. Each function gets its command's name
 * as argv[0] and returns the exit status. */
#pragma once

#include "base/core/error.h"
#include "base/core/text.h"

int client_watch(int argc, char *const *argv);
int client_login(int argc, char *const *argv);
int client_logout(int argc, char *const *argv);
int client_call_command(int argc, char *const *argv);  /* opsbrain call TOOL name=value ... */
int client_tools_command(int argc, char *const *argv); /* opsbrain tools */
int client_completion(int argc, char *const *argv);    /* opsbrain completion bash|zsh|fish */
int client_complete(int argc, char *const *argv);      /* called by the completion scripts */

/* A command that is named after a tool, by its short name (client/command/tool_words.h) or its full
 * name. */
int client_word(int argc, char *const *argv);

/* The commands that people type, except the names of tools and their short names in tool_words;
 * ends with NULL. */
extern const char *const client_fixed_commands[];

/* Help for commands that are not tools. */
CHECKED bool client_bench_help(struct text *out, struct error *error);
CHECKED bool client_watch_help(struct text *out, struct error *error);
CHECKED bool client_login_help(struct text *out, struct error *error);
CHECKED bool client_call_help(struct text *out, struct error *error);
CHECKED bool client_completion_help(struct text *out, struct error *error);
/* Whether --help or -h is among the words after the command's name, before any "--". */
bool client_asks_for_help(int argc, char *const *argv);
/* Writes a command's help to standard output; returns the exit status. */
int client_help_show(const char *name);

/* Adds the help for the client's command, or for the tool, that has this name. A tool can be named
 * by its short name or its full name. NOT_FOUND: neither this program nor the server has a command
 * or tool with that name. */
CHECKED bool client_help(const char *name, struct text *out, struct error *error);
/* Adds the part of `opsbrain help` that lists the client's commands and the exit statuses. */
void client_help_overview(struct text *out);
