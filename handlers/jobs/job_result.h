/* SPDX-License-Identifier: Apache-2.0 */
/* The final result of a task: a call that started a job is answered from the job's row. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

/* Writes the result of a job that is over and was not cancelled. Returns false if the job failed,
 * or its result cannot be read: `error` says why. */
CHECKED bool job_result(const struct services *services, const struct job *job,
                        struct answer *answer, struct error *error);
/* Sets `error` to the error with which a failed job ended; for a sweep it also says what to call
 * next. */
void job_failure(const struct job *job, struct error *error);
