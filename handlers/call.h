/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a call that tools share with what is read like them: resources and prompts. */
#pragma once

#include "handlers/tool.h"

/* Role, arguments, run and conformity, without the audit of a call; `call->arguments` are raw. */
CHECKED bool call_run(const struct tool *tool, struct call *call, struct answer *answer,
                      struct error *error);

/* Fills in what the audit will say of the call; both texts are borrowed until it ended. */
void call_begin(struct call *call, const char *name, const char *arguments);
/* Counts in the audit that `what` was read. */
void call_read(const struct call *call, const char *what);
/* Masks what `error` must not tell, writes its audit row, and puts the request's id in the place of
 * our own faults. */
void call_refused(struct call *call, struct error *error);

/* The structure as it leaves: without members that say nothing or (unless `detail`) are told in
 * detail alone, its figures to five digits, and with the member "foreign_text" in front where it
 * has text that others wrote. */
void answer_settle(const struct tool *tool, bool detail, struct answer *answer);
