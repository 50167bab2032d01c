/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may change a deployment, and when. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

/* Only its owner and admins decide where it points and whether it exists. */
CHECKED bool deployment_check_owner(const struct call *call, const struct deployment *deployment,
                                    struct error *error);
/* CONFLICT while a sweep is planned, queued or running on it. */
CHECKED bool deployment_check_idle(struct store *store, const char *name, struct error *error);
/* A secret is sent only to origins that it is bound to. If an admin names it here, the change binds
 * it: after->binds gets the origin, "" if it is bound already. `before` is NULL for a new
 * deployment. */
CHECKED bool deployment_check_secret(const struct call *call, const struct deployment *before,
                                     struct deployment *after, struct error *error);
