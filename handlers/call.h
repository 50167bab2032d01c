/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a tool call that resources, prompts, tasks and pages need as well. */
#pragma once

#include "handlers/tool.h"

/* Checks role and arguments, runs the tool and checks the answer, but does not audit how the call
 * ended. `call->arguments` are as the client gave them. */
CHECKED bool call_run(const struct tool *tool, struct call *call, struct answer *answer,
                      struct error *error);

/* Sets what the audit log records about the call: the name of the tool or method, and its arguments
 * as JSON (NULL: none are recorded). Both strings are borrowed until the call ends. */
void call_begin(struct call *call, const char *name, const char *arguments);
/* Counts in the audit log that `what` was read: a run's id, or a resource's URI. "": the call names
 * no run. */
void call_read(const struct call *call, const char *what);
/* Masks secrets in `error` and records the failed call in the audit log. Replaces the message of an
 * internal error with one that names only the request's id. */
void call_refused(struct call *call, struct error *error);

/* Sets the callbacks of a call whose client gets nothing but the answer: progress and messages are
 * dropped, and questions fail with UNSUPPORTED. The caller sets `cancelled` itself. */
void call_without_client(struct call *call);

/* Shortens the structure. Drops members that are null, and sparse members that are empty. If
 * `detail` is false, also drops members that are shown only in detail, and arguments that have
 * their default values. Rounds fractions to five significant digits, but keeps all digits of the
 * integer part. If the structure contains untrusted text, its first member becomes "foreign_text",
 * which names the members with such text. */
void answer_condense(const struct tool *tool, bool detail, struct answer *answer);
/* If a page shows the answer and the address of the pages is known, adds the page's URL to the text
 * and the structure, and sets answer->page to it; otherwise sets answer->page to "". `base_url` is
 * as in struct call. */
void answer_link(const char *base_url, struct answer *answer);
