/* SPDX-License-Identifier: Apache-2.0 */
/* target_remove: removes a target, so that nothing more is deployed there. */

#include "base/core/clock.h"
#include "handlers/consent.h"
#include "store/fleet/fleet_targets.h"

static const struct param params[] = {
    { "target", VALUE_TEXT, .required = true, .low = 1, .high = 63, .help = "Its name." },
    PARAM_CONFIRM("The same name again, as confirmation."),
    { 0 },
};

static const struct field fields[] = {
    { "name", VALUE_TEXT, .help = "The target that was removed." },
    { "removed", VALUE_BOOLEAN, .help = "Always true." },
    { 0 },
};

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    struct fleet_target_row row;
    TEXT_AUTO plan = { 0 };
    TEXT_AUTO declined = { 0 };

    if (!fleet_target_find(call->services->store, call_text(call, "target"), &row, error))
        return false;
    text_addf(&plan,
              "Remove the target \"%s\" (%s)? Nothing can be deployed there anymore. Its "
              "credential file stays, and nothing on the platform is touched.",
              row.name, row.provider);
    text_addf(&declined, "%s stays registered", row.name);
    const struct consent consent = { .name = row.name,
                                     .key = "remove",
                                     .title = "Remove it",
                                     .plan = text_string(&plan),
                                     .summary = text_string(&plan),
                                     .declined = text_string(&declined) };
    return consent_get(call, &consent, error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *name = call_text(call, "target");

    if (!fleet_target_retire(call->services->store, name, clock_utc_ms(), &call->change, error))
        return false;
    answer->structured = json_pack("{s:s, s:b}", "name", name, "removed", true);
    text_addf(&answer->text, "The target %s was removed.\n", name);
    return true;
}

const struct tool tool_target_remove = {
    .name = "target_remove",
    .title = "Remove a target for deployments",
    .help = "Removes a target: nothing can be deployed there anymore. It touches nothing on the "
            "platform.",
    .more =
        "Refused while a deployment on it is managed. Registering the target again brings it back.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_ADMIN,
    .placement = PLACE_WAITING,
    .destroys = STATED_YES,
    .spends_money = STATED_NO,
    .go_ahead = go_ahead,
    .run = run,
};
