/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a call that tools share with resources and prompts. */
#pragma once

#include "handlers/tool.h"

/* Checks role and arguments, runs the tool and checks the answer, without the audit row;
 * `call->arguments` are raw. */
CHECKED bool call_run(const struct tool *tool, struct call *call, struct answer *answer,
                      struct error *error);

/* Sets what the audit log will record about the call; both texts are borrowed until it has ended.
 */
void call_begin(struct call *call, const char *name, const char *arguments);
/* Counts in the audit log that `what` was read. */
void call_read(const struct call *call, const char *what);
/* Masks secrets in `error`, writes its audit row, and replaces internal errors by the request's id.
 */
void call_refused(struct call *call, struct error *error);

/* Sets the callbacks of a call whose client gets nothing but the answer: progress and messages are
 * dropped, and asking is UNSUPPORTED. `cancelled` is the caller's. */
void call_without_client(struct call *call);

/* Completes the structure: drops empty members and (unless `detail`) those of the details, rounds
 * figures to five digits, and adds the member "foreign_text" in front if it contains text that
 * others wrote. */
void answer_condense(const struct tool *tool, bool detail, struct answer *answer);
/* Adds the link to the page that shows the same, to text and structure, if there is such a page and
 * the address of pages is known. answer->page is then its URL, else "". `base_url` as in struct
 * call. */
void answer_link(const char *base_url, struct answer *answer);
