/* SPDX-License-Identifier: Apache-2.0 */
/* One verb with one fault at one of its requests, and what must be true afterwards: the plan is
 * done, or it failed with a sentence; nothing was made twice; what was made is known, and goes with
 * a destroy; what is others' was not touched. */
#pragma once

#include "tests/clouds/trial_rig.h"

enum trial_demand {
    DEMAND_DONE,        /* the fault passes: it must be done */
    DEMAND_ANY,         /* done, or failed cleanly */
    DEMAND_DONE_IF_NEW, /* done where the credential has new tokens */
};

struct trial_fault {
    struct fake_fault fault; /* without a status and so on: the condition of its name */
    enum trial_demand demand;
    bool is_condition, is_slow;
};
const struct trial_fault *trial_faults(void); /* ends with a row without a name */

/* How the verb goes without a fault. */
struct trial_reference {
    int requests, created;
    json_t *made;
    char state[16];
};
void trial_reference_take(struct trial_rig *rig, enum provider_verb verb,
                          struct trial_reference *out);
void trial_reference_finish(struct trial_reference *reference);

/* `at`: which of its requests, from 1; of a condition it does not matter. NULL: all is as it must
 * be; else a sentence to free(). */
char *trial_fault_run(struct trial_rig *rig, enum provider_verb verb,
                      const struct trial_reference *reference, const struct trial_fault *fault,
                      int at);
