/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and applies plans on a trial's fake, as the server does. Each rig has its own store. If
 * the setup or the store fails, the functions print an error message and abort the process. */
#pragma once

#include "fleet/managed/managed_apply.h"
#include "fleet/recipes/recipe_book.h"
#include "jobs/job_pool.h"
#include "store/ledger/store.h"
#include "tests/clouds/trial.h"
#include "tests/unit/support/folder.h"

struct trial_rig {
    struct trial_site site;
    char folder[FOLDER_SIZE], secrets[FOLDER_SIZE];
    struct store *store;
    struct catalog *catalog;
    struct recipe_book *recipes;
    struct price_book *prices;
    struct cloud_endpoints *endpoints;
    struct cloud *cloud;
    struct fleet_frame frame;
    struct job_pool *jobs;
};

void trial_rig_open(struct trial_rig *rig, const struct trial *trial);
void trial_rig_close(struct trial_rig *rig);

/* Makes a plan for TRIAL_DEPLOYMENT and adds a job that applies the plan, as a user would. Returns
 * false if this was refused. */
bool trial_rig_begin(struct trial_rig *rig, enum provider_verb verb, char plan_id[ID_SIZE],
                     char job_id[ID_SIZE], struct error *error);
/* Waits until the plan's job has ended, and reads the plan into *out, which the caller passes to
 * fleet_plan_finish. */
void trial_rig_finish(struct trial_rig *rig, const char *plan_id, const char *job_id,
                      struct fleet_plan_row *out);
/* Makes and applies a plan, and waits until the plan is done. Aborts the process if it fails. */
void trial_rig_do(struct trial_rig *rig, enum provider_verb verb);
/* Writes the state of TRIAL_DEPLOYMENT to `out`, or "gone" if opsbrain does not manage it. */
void trial_rig_state(struct trial_rig *rig, char out[16]);
/* Restores the fake's resources, and destroys the deployment if it is managed. */
void trial_rig_reset(struct trial_rig *rig);
