/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of carrying out a call that resources, prompts, tasks and pages need, too. */
#pragma once

#include "handlers/tool.h"

/* Checks role and arguments, runs the tool and checks the answer, but does not audit how the call
 * ended; `call->arguments` are raw. */
CHECKED bool call_run(const struct tool *tool, struct call *call, struct answer *answer,
                      struct error *error);

/* Sets what the audit log records about the call. Both texts are borrowed until the call ends. */
void call_begin(struct call *call, const char *name, const char *arguments);
/* Counts in the audit log that `what` was read. */
void call_read(const struct call *call, const char *what);
/* Masks secrets in `error`, records the failed call in the audit log, and replaces an internal
 * error by a sentence with the request's id. */
void call_refused(struct call *call, struct error *error);

/* Sets the callbacks of a call whose client gets nothing but the answer: progress and messages are
 * dropped, and asking is UNSUPPORTED. The caller sets `cancelled` itself. */
void call_without_client(struct call *call);

/* Shortens the structure. Drops members that are null, and sparse members that are empty; unless
 * `detail`, also drops members that are only shown in detail, and arguments at their default.
 * Rounds fractions to five digits, or to an integer if that has more. If the structure contains
 * text that others wrote, a first member "foreign_text" names the members with that text. */
void answer_condense(const struct tool *tool, bool detail, struct answer *answer);
/* Adds the link to the page that shows the answer, to its text and its structure, if there is such
 * a page and the address of pages is known; answer->page becomes the URL, or otherwise "".
 * `base_url` is as in struct call. */
void answer_link(const char *base_url, struct answer *answer);
