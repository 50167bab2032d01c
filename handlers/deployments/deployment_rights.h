/* SPDX-License-Identifier: Apache-2.0 */
/* Checks who may change the URL or the secret of a deployment or remove it, and where its secret
 * may be sent. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/deployments.h"

/* Only the owner of a deployment and admins may change its URL or secret, or remove it. FORBIDDEN:
 * the caller is neither. */
CHECKED bool deployment_check_owner(const struct call *call, const struct deployment *deployment,
                                    struct error *error);

/* Checks that the deployment's secret may be sent to the origin of its URL. If the caller is an
 * admin and this call names the secret, the call also binds the secret to that origin:
 * after->origin_to_bind becomes the origin, or "" if the secret may already be sent there. `before`
 * is NULL for a new deployment. Checks nothing if the deployment has no secret, or if the call
 * neither names a secret nor changes the URL. FORBIDDEN: the secret may not be sent to the origin,
 * and this call is not allowed to bind it. */
CHECKED bool deployment_check_secret(const struct call *call, const struct deployment *before,
                                     struct deployment *after, struct error *error);
