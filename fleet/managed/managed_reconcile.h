/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each managed deployment every one to ten minutes: stores what the provider shows, warns
 * before the deployment's end, and then ends it if nothing else did. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_reconciler;

/* Receives what users should know, on any thread. `is_warning`: the deployment's end is near, or
 * something is wrong. */
typedef void managed_listener(void *context, const char *deployment, const char *sentence,
                              bool is_warning);

/* `frame` is borrowed; `listener` NULL: none. Free with managed_reconcile_destroy. */
struct managed_reconciler *managed_reconcile_create(const struct fleet_frame *frame,
                                                    managed_listener *listener, void *context);
void managed_reconcile_destroy(struct managed_reconciler *reconciler); /* does nothing for NULL */

/* How many deployments were checked, plans queued again, deployments ended, and orphans found. */
struct managed_round {
    size_t checked, requeued, ended, orphans;
};
/* Checks the deployments that are due. A failure is stored with its deployment, and the round goes
 * on. Returns false only if the store fails. */
CHECKED bool managed_reconcile_round(struct managed_reconciler *reconciler,
                                     struct managed_round *out, struct error *error);
