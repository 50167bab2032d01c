/* SPDX-License-Identifier: Apache-2.0 */
/* Who may change what of a deployment, and when. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

/* Where it points and whether it exists is its owner's to say, and an admin's. */
CHECKED bool deployment_check_owner(const struct call *call, const struct deployment *deployment,
                                    struct error *error);
/* CONFLICT while a sweep is planned, queued or running on it. */
CHECKED bool deployment_check_idle(struct store *store, const char *name, struct error *error);
/* A secret is sent only to origins that it is bound to. What an admin names is bound along with the
 * change: after->binds says to which origin, "" where it is bound already. `before` is NULL for a
 * new deployment. */
CHECKED bool deployment_check_secret(const struct call *call, const struct deployment *before,
                                     struct deployment *after, struct error *error);
