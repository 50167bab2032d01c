/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each managed deployment every one to ten minutes: stores what the provider shows, and
 * warns before the deployment's end. After its end, begins a plan that ends the deployment, if
 * opsbrain may, and has not observed that the deployment is ended already. Also searches the
 * targets for orphans. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_reconciler;

/* Receives a sentence for users, on any thread. `is_warning`: the deployment's end is near, or
 * something is wrong. */
typedef void managed_listener(void *context, const char *deployment, const char *sentence,
                              bool is_warning);

/* `frame` is borrowed; `listener` NULL: none. Free with managed_reconcile_destroy. */
struct managed_reconciler *managed_reconcile_create(const struct fleet_frame *frame,
                                                    managed_listener *listener, void *context);
void managed_reconcile_destroy(struct managed_reconciler *reconciler); /* does nothing for NULL */

/* How many deployments were checked, how many plans were queued again, how many plans to end a
 * deployment were begun, and how many orphans were found. */
struct managed_round {
    size_t checked, requeued, ended, orphans;
};
/* Checks the deployments whose turn it is. A deployment that cannot be observed or ended does not
 * end the round. Returns false only if the store fails. */
CHECKED bool managed_reconcile_round(struct managed_reconciler *reconciler,
                                     struct managed_round *out, struct error *error);
