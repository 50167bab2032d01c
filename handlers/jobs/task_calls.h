/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the requests that change a task. A task is a job. The role is checked as in a call to
 * a tool. The audit log records each request, except tasks/cancel for a job that has already
 * ended. */
#pragma once

#include "handlers/tool.h"

/* Carries out tasks/cancel: requests that the job stop; does nothing if the job has ended.
 * FORBIDDEN: the caller may not act on the job. NOT_FOUND: there is no such job. */
CHECKED bool task_call_cancel(struct call *call, const char *id, struct error *error);
/* Carries out tasks/update: gives the job answers to its questions. `answers` is an object with
 * the answers by the questions' keys; some can be missing. Answers to questions that the job did
 * not ask, or that already have an answer, are ignored. FORBIDDEN, NOT_FOUND: as for
 * task_call_cancel. INVALID: an answer is too long. */
CHECKED bool task_call_update(struct call *call, const char *id, json_t *answers,
                              struct error *error);
