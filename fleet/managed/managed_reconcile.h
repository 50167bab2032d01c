/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each managed deployment every one to ten minutes: stores what the provider shows, and
 * warns before the deployment's end. After that end, begins a plan that stops or destroys the
 * deployment, unless opsbrain may only watch the deployment, or the deployment is to be stopped and
 * already is. Also searches the targets for orphans: servers with this opsbrain's label that it
 * does not manage. Adopts an orphan whose end has passed, in order to end it. Begins no plan and
 * adopts nothing while clouds may only be read. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_reconciler;

/* Receives a message for users; can be called on any thread. `is_warning`: the deployment's end is
 * near, or something is wrong. */
typedef void managed_listener(void *context, const char *deployment, const char *sentence,
                              bool is_warning);

/* `frame` is borrowed. `listener` can be NULL. Free with managed_reconcile_destroy. */
struct managed_reconciler *managed_reconcile_create(const struct fleet_frame *frame,
                                                    managed_listener *listener, void *context);
void managed_reconcile_destroy(struct managed_reconciler *reconciler); /* does nothing for NULL */

struct managed_round {
    size_t checked;  /* number of deployments that were checked */
    size_t requeued; /* number of plans whose jobs were queued again */
    size_t ended;    /* number of plans to end a deployment that were begun */
    size_t orphans;  /* number of orphans that were found */
};
/* Checks the deployments whose turn it is. A deployment that cannot be observed or ended does not
 * end the round. Returns false only if the store fails. */
CHECKED bool managed_reconcile_round(struct managed_reconciler *reconciler,
                                     struct managed_round *out, struct error *error);
