/* SPDX-License-Identifier: Apache-2.0 */
/* The command line as a client: which server it calls, and the terminal on which it shows the
 * server's answers. */
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
    STATUS_NO_SERVER = 3,    /* no opsbrain server answers */
    STATUS_NO_ACCESS = 4,    /* a key is missing or invalid, or its role is too low */
    STATUS_INCOMPLETE = 5,   /* bench: the sweep is not completed, or a cell has no figures */
    STATUS_INTERRUPTED = 130 /* Ctrl-C or a signal; bench: also if the user declines the plan */
};
extern const char client_statuses[]; /* explains the exit statuses in help texts */

struct client {
    struct remote remote;
    struct terminal out, err;    /* standard output and error */
    bool json;                   /* answers are shown as JSON */
    bool all;                    /* a report is shown in full, even on a terminal */
    bool in_progress;            /* standard error shows a progress line now */
    char called[TOOL_NAME_SIZE]; /* name of the tool called last, for client_fail; "": none */
    json_t *tools;               /* the server's list of tools; NULL: not received yet */
};

/* Finds out which server to call, without calling it. Free with client_finish. */
CHECKED bool client_open(struct client *client, struct error *error);
void client_finish(struct client *client);

/* Writes "opsbrain: " and the error message to standard error, without control characters; returns
 * the exit status. */
int client_fail(const struct client *client, const struct error *error);
/* Writes text to standard output; false if that fails, for example because a pipe is closed. */
bool client_write(const struct text *text);

/* Finds a tool in the server's tools/list. *out: borrowed; NULL: the server has no such tool. */
CHECKED bool client_find_tool(struct client *client, const char *name, const json_t **out,
                              struct error *error);
/* Calls a tool, shows its progress on a terminal, and passes its questions to the user there.
 * *result: a new reference to {content, structuredContent}. Also fails if the tool itself reports
 * an error. */
CHECKED bool client_call(struct client *client, const char *tool, const json_t *arguments,
                         json_t **result, struct error *error);
/* The same, without showing progress. *structured: a new reference to the answer's
 * structuredContent. UPSTREAM: the answer has none. */
CHECKED bool client_call_quietly(struct client *client, const char *tool, const json_t *arguments,
                                 json_t **structured, struct error *error);
/* Adds to `out` the file that the answer names or, if it names none, the answer's first text. */
CHECKED bool client_read_file(struct client *client, const json_t *result, struct text *out,
                              struct error *error);
/* Shows a tool's answer: as text, as JSON, or as the picture that it contains or the file that it
 * names. */
CHECKED bool client_show(struct client *client, const json_t *result, struct error *error);
