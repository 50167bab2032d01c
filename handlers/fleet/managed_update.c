/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/managed_update.h"

#include <string.h>

#include "base/json/json.h"
#include "handlers/answers/deployment_answer.h"
#include "handlers/fleet/plan_answer.h"
#include "store/fleet/fleet_managed.h"

static bool is_given(const struct call *call, const char *name)
{
    return json_object_get(call->arguments, name) != NULL;
}

bool managed_update_is_requested(const struct call *call, bool *requested, struct error *error)
{
    static const char *const allowed[] = { "deployment", "recipe", "overrides", "idempotency_key" };
    const char *name;
    json_t *ignored;

    *requested = is_given(call, "recipe") || is_given(call, "overrides");
    json_object_foreach(json_iterable(call->arguments), name, ignored) {
        bool known = false;

        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            known = known || strcmp(allowed[i], name) == 0;
        if (*requested && !known)
            return error_set(
                error, ERROR_INVALID,
                "\"%s\" is for a change to the registry, but \"recipe\" and \"overrides\" "
                "plan a change to the server: make one call for the registry and "
                "another one for the plan",
                name);
    }
    return true;
}

bool managed_update_plan(struct call *call, const struct deployment *deployment,
                         struct answer *answer, struct error *error)
{
    struct managed_wish wish = plan_answer_wish(call, VERB_UPDATE);
    json_auto_t *overrides = plan_answer_overrides(call);

    wish.deployment = deployment->name;
    wish.overrides = is_given(call, "overrides") || is_given(call, "recipe") ? overrides : NULL;
    if (!plan_answer_check_owner(call, wish.deployment, error)
        || !plan_answer_make(call, &wish, answer, error))
        return false;
    answer->structured =
        json_pack("{s:o, s:b, s:o}", "deployment", deployment_answer_json(deployment), "changed", 0,
                  "plan", answer->structured);
    return true;
}

bool managed_update_check_url(const struct call *call, const struct deployment *before,
                              const struct deployment *after, struct error *error)
{
    struct fleet_managed_row row;
    bool found;

    if (strcmp(before->url, after->url) == 0)
        return true;
    if (!fleet_managed_find(call->services->store, before->name, &row, &found, error))
        return false;
    if (!found)
        return true;
    fleet_managed_finish(&row);
    return error_set(error, ERROR_FORBIDDEN,
                     "\"url\" cannot be changed, since %s is managed by opsbrain and its platform "
                     "assigns its address: register a different address under a different name",
                     before->name);
}
