/* SPDX-License-Identifier: Apache-2.0 */
/* The job that carries out a plan: request by request, with a row of the journal before and after
 * each, so that a process that takes over after kill -9 goes on without a second resource and
 * without forgetting one. */
#pragma once

#include "fleet/managed/managed_plan.h"
#include "jobs/job_pool.h"

/* The function of the job kind JOB_KIND_APPLY. A plan that is cancelled, or fails, is undone as far
 * as it made something. */
CHECKED enum job_end managed_apply_run(const struct fleet_frame *frame, struct job_run *run,
                                       char **outcome_json, struct error *error);
