/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/deployment_argument.h"

#include "base/core/memory.h"
#include "store/ledger/sweeps.h"

#define NAMES_SHOWN 8

static CHECKED bool refuse_many(const struct deployment *deployments, size_t count,
                                struct error *error)
{
    TEXT_AUTO names = { 0 };

    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
        text_addf(&names, "%s%s", i == 0 ? "" : ", ", deployments[i].name);
    return error_set(
        error, ERROR_INVALID,
        "\"deployment\" is missing, and more than one deployment is registered: name one (%s%s)",
        text_string(&names), count > NAMES_SHOWN ? ", ..." : "");
}

static CHECKED bool find_only(struct store *store, struct deployment *out, struct error *error)
{
    FREE_AUTO struct deployment *deployments = NULL;
    size_t count;

    if (!deployment_list(store, "", NAMES_SHOWN + 1, &deployments, &count, error))
        return false;
    if (count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "no deployment is registered yet: call deployment_register with a name "
                         "and the URL of a running model server");
    if (count > 1)
        return refuse_many(deployments, count, error);
    *out = deployments[0];
    return true;
}

bool deployment_argument(const struct call *call, struct deployment *out, struct error *error)
{
    const char *name = call_text(call, "deployment");

    if (name == NULL)
        return find_only(call->services->store, out, error);
    return deployment_find(call->services->store, name, out, error);
}

bool deployment_argument_check_idle(struct store *store, const char *name, struct error *error)
{
    char active[ID_SIZE];

    if (!sweep_find_active(store, name, active, error))
        return false;
    if (active[0] != '\0')
        return error_set(error, ERROR_CONFLICT,
                         "the sweep %s is using %s: wait until it ends, or call sweep_cancel",
                         active, name);
    return true;
}
