/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one verb with one fault. The fault affects one of the verb's requests or, if it is a
 * condition of the fake, all of them. Afterwards, checks that
 * - the plan is done or, if the fault permits it, has failed and gives the reason,
 * - a plan that is done created nothing twice,
 * - no new resource is left once the deployment is destroyed, and
 * - the resources that existed at the start are unchanged. */
#pragma once

#include "tests/clouds/trial_rig.h"

enum trial_demand {
    DEMAND_DONE,        /* the fault is temporary or harmless: the plan must be done */
    DEMAND_ANY,         /* the plan can also fail, but must not leave unmanaged resources */
    DEMAND_DONE_IF_NEW, /* DEMAND_DONE if trial->renews_token, otherwise DEMAND_ANY */
};

/* If trial->is_here, every demand is treated as DEMAND_ANY. */
struct trial_fault {
    struct fake_fault fault; /* for a condition, only the name is set */
    enum trial_demand demand;
    bool is_condition; /* the fault is a condition of the fake (trial.h) */
    bool takes_minute; /* a run with this fault takes over a minute */
};
const struct trial_fault *trial_faults(void); /* ends with a row without a name */

/* What a verb does without a fault. */
struct trial_reference {
    int requests;   /* the number of requests that the job of the verb's plan sends */
    int created;    /* the number of objects that the job creates */
    json_t *made;   /* what trial_site_made() returns after the job */
    char state[16]; /* the deployment's state after the job; "gone": it is not managed */
};
void trial_reference_measure(struct trial_rig *rig, enum provider_verb verb,
                             struct trial_reference *out);
void trial_reference_finish(struct trial_reference *reference);

/* `at` is the number of the request that gets the fault, counted from 1; ignored for a condition.
 * Returns NULL if everything is as required, otherwise a message that the caller frees. */
char *trial_fault_run(struct trial_rig *rig, enum provider_verb verb,
                      const struct trial_reference *reference, const struct trial_fault *fault,
                      int at);
