/* SPDX-License-Identifier: Apache-2.0 */
/* For tasks: the final result of a call that started a job, made from the job's row. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

/* For a job that is over and was not cancelled. False: it failed, and `error` says why; its kind is
 * INTERNAL for internal errors. */
CHECKED bool job_result(const struct services *services, const struct job *job,
                        struct answer *answer, struct error *error);
/* Why a failed job failed. */
void job_failure(const struct job *job, struct error *error);
