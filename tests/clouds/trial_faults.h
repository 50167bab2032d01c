/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one verb with one fault. The fault affects one of the verb's requests or, if it is a
 * condition of the fake, all of them. Checks what must be true afterwards: the plan is done or, if
 * the fault permits it, failed with a message for users; a plan that is done created nothing twice;
 * no resource is left once the deployment is destroyed; other people's resources are untouched. */
#pragma once

#include "tests/clouds/trial_rig.h"

enum trial_demand {
    DEMAND_DONE,        /* the fault is temporary: the plan must be done */
    DEMAND_ANY,         /* done, or failed cleanly */
    DEMAND_DONE_IF_NEW, /* DEMAND_DONE if trial->renews_token, otherwise DEMAND_ANY */
};

struct trial_fault {
    struct fake_fault fault; /* for a condition, only the name is set */
    enum trial_demand demand;
    bool is_condition; /* the fault is a condition of the fake (trial.h) */
    bool takes_minute;
};
const struct trial_fault *trial_faults(void); /* ends with a row without a name */

/* What a verb does without a fault. */
struct trial_reference {
    int requests, created;
    json_t *made;
    char state[16];
};
void trial_reference_measure(struct trial_rig *rig, enum provider_verb verb,
                             struct trial_reference *out);
void trial_reference_finish(struct trial_reference *reference);

/* `at` is the number of the request that gets the fault, from 1; it is ignored for a condition.
 * Returns NULL if everything is as required, otherwise a message that the caller frees. */
char *trial_fault_run(struct trial_rig *rig, enum provider_verb verb,
                      const struct trial_reference *reference, const struct trial_fault *fault,
                      int at);
