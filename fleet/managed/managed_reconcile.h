/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at each managed deployment about once a minute: records what the provider shows, warns
 * before its end, and ends it then if nothing else did. */
#pragma once

#include "fleet/managed/managed_plan.h"

struct managed_reconciler;

/* Receives what people should know, on any thread. `is_warning`: its end is near, or something is
 * wrong. */
typedef void managed_listener(void *context, const char *deployment, const char *sentence,
                              bool is_warning);

/* The frame is borrowed. managed_reconcile_destroy frees it. */
struct managed_reconciler *managed_reconcile_create(const struct fleet_frame *frame,
                                                    managed_listener *listener, void *context);
void managed_reconcile_destroy(struct managed_reconciler *reconciler); /* NULL is fine */

struct managed_round {
    size_t looked, requeued, ended, orphans;
};
/* One round over the deployments that are due. A failure is recorded with its deployment, and the
 * others go on. False only if the store cannot be read. */
CHECKED bool managed_reconcile_round(struct managed_reconciler *reconciler,
                                     struct managed_round *out, struct error *error);
