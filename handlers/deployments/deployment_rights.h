/* SPDX-License-Identifier: Apache-2.0 */
/* Decides who may change a deployment, and where its secret may be sent. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

/* Only the owner of a deployment and admins may change its URL or secret, or remove it. FORBIDDEN:
 * the caller is neither. */
CHECKED bool deployment_check_owner(const struct call *call, const struct deployment *deployment,
                                    struct error *error);

/* Checks that the deployment's secret may be sent to its URL. A secret is sent only to origins that
 * it is bound to; if an admin names it in this call, the change binds it: after->binds becomes the
 * origin, or "" if it is bound already. `before` is NULL for a new deployment. Nothing is
 * checked if the call neither names a secret nor changes the URL. FORBIDDEN: the secret is not
 * bound to the origin. */
CHECKED bool deployment_check_secret(const struct call *call, const struct deployment *before,
                                     struct deployment *after, struct error *error);
