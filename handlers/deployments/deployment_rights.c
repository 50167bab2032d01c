/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/deployments/deployment_rights.h"

#include <string.h>

bool deployment_check_owner(const struct call *call, const struct deployment *deployment,
                            struct error *error)
{
    if (role_allows(call->principal.role, ROLE_ADMIN)
        || strcmp(call->principal.name, deployment->owner) == 0)
        return true;
    return error_set(error, ERROR_FORBIDDEN,
                     "%s belongs to %s: only %s or an admin may change its url or secret, or "
                     "remove it",
                     deployment->name, deployment->owner, deployment->owner);
}

bool deployment_check_secret(const struct call *call, const struct deployment *before,
                             struct deployment *after, struct error *error)
{
    const struct access *access = &call->services->access;
    bool named = call_text(call, "secret") != NULL;

    if (after->secret[0] == '\0'
        || (!named && before != NULL && strcmp(before->url, after->url) == 0))
        return true;
    if (named && role_allows(call->principal.role, ROLE_ADMIN))
        return secret_access_missing(access, after->secret, after->url, after->origin_to_bind,
                                     error);
    return secret_access_check(access, after->secret, after->url, error);
}
