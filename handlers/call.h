/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a call that tools share with resources and prompts. */
#pragma once

#include "handlers/tool.h"

/* Role, arguments, run and check of the answer, without the audit of a call; `call->arguments` are
 * raw. */
CHECKED bool call_run(const struct tool *tool, struct call *call, struct answer *answer,
                      struct error *error);

/* Fills in what the audit log will record of the call; both texts are borrowed until it has ended.
 */
void call_begin(struct call *call, const char *name, const char *arguments);
/* Counts in the audit log that `what` was read. */
void call_read(const struct call *call, const char *what);
/* Masks secrets in `error`, writes its audit row, and replaces internal errors by the request's id.
 */
void call_refused(struct call *call, struct error *error);

/* Sets the callbacks of a call whose client hears only its answer: progress and messages go
 * nowhere, and asking is UNSUPPORTED. `cancelled` is the caller's. */
void call_without_client(struct call *call);

/* Completes the structure: drops members that say nothing or (unless `detail`) belong to the
 * details, rounds its figures to five digits, and puts the member "foreign_text" in front if it
 * contains text written by others. */
void answer_condense(const struct tool *tool, bool detail, struct answer *answer);
/* Names the page that shows it, where there is one and it is known how pages are reached: in text
 * and structure. answer->page is then its URL, else "". `base_url` as in struct call. */
void answer_link(const char *base_url, struct answer *answer);
