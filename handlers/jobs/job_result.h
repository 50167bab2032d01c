/* SPDX-License-Identifier: Apache-2.0 */
/* The final result of a call that started a job, made from the job's row: for tasks. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/jobs.h"

/* For a job that is over and was not cancelled. False: it failed, and `error` says why; of kind
 * INTERNAL for our own faults. */
CHECKED bool job_result(const struct services *services, const struct job *job,
                        struct answer *answer, struct error *error);
/* Why a failed job failed. */
void job_failure(const struct job *job, struct error *error);
