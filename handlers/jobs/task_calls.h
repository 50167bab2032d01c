/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out what clients request of tasks, which are jobs. The role is checked, and the audit log
 * written, as for a call of a tool. */
#pragma once

#include "handlers/tool.h"

/* Carries out tasks/cancel: requests that the job stop; does nothing if it is over. FORBIDDEN: the
 * caller may not act on the job. NOT_FOUND: there is no such job. */
CHECKED bool task_call_cancel(struct call *call, const char *id, struct error *error);
/* Carries out tasks/update: gives the job the answers to its questions; `answers` is an object
 * with an answer for the key of each question. Fails as task_call_cancel does. */
CHECKED bool task_call_update(struct call *call, const char *id, json_t *answers,
                              struct error *error);
