/* SPDX-License-Identifier: Apache-2.0 */
/* The job that carries out a plan. It writes a row to the journal before and after each of the
 * plan's requests, so that a process that continues after kill -9 neither creates a resource twice
 * nor loses track of one. */
#pragma once

#include "fleet/managed/managed_plan.h"
#include "jobs/job_pool.h"

/* Runs a job of the kind JOB_KIND_APPLY. If the plan is cancelled or fails, what it created is
 * deleted. The caller frees *outcome_json. */
CHECKED enum job_end managed_apply_run(const struct fleet_frame *frame, struct job_run *run,
                                       char **outcome_json, struct error *error);
