/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of clients on tasks, which are jobs: with the role, the audit and the errors of a
 * tool. */
#pragma once

#include "handlers/tool.h"

/* Asks the job to stop; does nothing if it is already over. */
CHECKED bool task_call_cancel(struct call *call, const char *id, struct error *error);
/* Answers the job's questions; `answers` is an object by key. */
CHECKED bool task_call_update(struct call *call, const char *id, json_t *answers,
                              struct error *error);
