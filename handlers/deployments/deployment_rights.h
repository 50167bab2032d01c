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

/* Checks that the deployment's secret may be sent to the origin of its URL. If an admin names the
 * secret in this call, the change binds it to that origin: after->origin_to_bind becomes the
 * origin, or "" if the secret may be sent there already. `before` is NULL for a new deployment.
 * Nothing is checked without a secret, or if the call neither names one nor changes the URL.
 * FORBIDDEN: the secret may not be sent there, and this change does not bind it. */
CHECKED bool deployment_check_secret(const struct call *call, const struct deployment *before,
                                     struct deployment *after, struct error *error);
