/* SPDX-License-Identifier: Apache-2.0 */
/* What clients do with tasks, which are jobs, with the role, audit and errors of a tool's call. */
#pragma once

#include "handlers/tool.h"

/* Carries out tasks/cancel: requests that the job stop; does nothing if it is over. FORBIDDEN: the
 * caller may not act on the job. NOT_FOUND: there is no such job. */
CHECKED bool task_call_cancel(struct call *call, const char *id, struct error *error);
/* Carries out tasks/update: gives the job the answers to its questions; `answers` is an object by
 * the keys of the questions. Fails as task_call_cancel does. */
CHECKED bool task_call_update(struct call *call, const char *id, json_t *answers,
                              struct error *error);
