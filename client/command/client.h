/* SPDX-License-Identifier: Apache-2.0 */
/* The command line as a client: the server that it calls, and the terminal that shows the
 * answers. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "client/remote/remote.h"
#include "client/terminal/terminal.h"

#define TOOL_NAME_SIZE 64

/* Exit statuses, also for scripts: `opsbrain help` lists them. */
enum exit_status {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,       /* refused, or failed: the error message says why */
    STATUS_USAGE = 2,        /* the command line is wrong */
    STATUS_NO_SERVER = 3,    /* no server answers */
    STATUS_NO_ACCESS = 4,    /* a key is missing or invalid, or its role is too low */
    STATUS_INCOMPLETE = 5,   /* bench: not completed, or a cell has no figures */
    STATUS_INTERRUPTED = 130 /* Ctrl-C or a signal; bench: also if the user says no */
};
extern const char client_statuses[]; /* for help */

struct client {
    struct remote remote;
    struct terminal out, err;    /* standard output and error */
    bool json;                   /* answers are shown as JSON */
    bool all;                    /* a report is shown in full, also on a terminal */
    bool in_progress;            /* standard error shows a line of progress */
    char called[TOOL_NAME_SIZE]; /* the latest tool: a refusal may name its parameters; "": none */
    json_t *tools;               /* the server's list; NULL: not received yet */
};

/* Finds out which server to call, without calling it. Free with client_finish. */
CHECKED bool client_open(struct client *client, struct error *error);
void client_finish(struct client *client);

/* Writes "opsbrain: <sentence>" to standard error, without control characters; returns the exit
 * status. */
int client_fail(const struct client *client, const struct error *error);
/* Writes text to standard output; false if that fails, for example because a pipe is closed. */
bool client_write(const struct text *text);

/* The tool as the server's tools/list describes it, borrowed; *out NULL: it has no such tool. */
CHECKED bool client_find_tool(struct client *client, const char *name, const json_t **out,
                              struct error *error);
/* Calls a tool, shows its progress on a terminal, and passes its questions to the user there.
 * *result: a new reference to {content, structuredContent}. A tool's own error also returns false.
 */
CHECKED bool client_call(struct client *client, const char *tool, const json_t *arguments,
                         json_t **result, struct error *error);
/* The same, without showing progress. *structured: a new reference to the answer's
 * structuredContent; UPSTREAM if there is none. */
CHECKED bool client_call_quietly(struct client *client, const char *tool, const json_t *arguments,
                                 json_t **structured, struct error *error);
/* Adds to `out` the file that the answer names, or else the answer's first text. */
CHECKED bool client_read_file(struct client *client, const json_t *result, struct text *out,
                              struct error *error);
/* Shows a tool's answer: as text, as JSON, or as the file or picture in it. */
CHECKED bool client_show(struct client *client, const json_t *result, struct error *error);
