/* SPDX-License-Identifier: Apache-2.0 */
/* The final result of a task. A task is a job; its result is the result of the call that started
 * the job, and is made from the job's row in the store. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

/* Writes the result of a job that has ended and was not cancelled. Returns false if the job failed
 * or its result cannot be read; `error` says why. */
CHECKED bool job_result(const struct services *services, const struct job *job,
                        struct answer *answer, struct error *error);
/* Sets `error` to the error with which a failed job ended; for a sweep it also says what to call
 * next. */
void job_failure(const struct job *job, struct error *error);
