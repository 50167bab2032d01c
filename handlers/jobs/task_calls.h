/* SPDX-License-Identifier: Apache-2.0 */
/* What clients do to tasks, which are jobs: with the role, the audit and the errors of a tool. */
#pragma once

#include "handlers/tool.h"

/* Asks the job to stop; one that is over already is left alone. */
CHECKED bool task_call_cancel(struct call *call, const char *id, struct error *error);
/* Answers what the job asked; `answers` is an object by key. */
CHECKED bool task_call_update(struct call *call, const char *id, json_t *answers,
                              struct error *error);
