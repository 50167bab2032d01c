/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/admin_fleet.h"

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_plan.h"
#include "fleet/secret_access.h"
#include "server/program/command_line.h"
#include "server/program/fleet_place.h"

bool admin_plan_show(const struct access *access, const json_t *request, json_t **reply,
                     struct error *error)
{
    json_auto_t *document = NULL;
    TEXT_AUTO text = { 0 };
    struct fleet_plan_row row;

    if (!fleet_plan_find(access->store, json_get_text(request, "plan", ""), &row, error))
        return false;
    document = json_loads(row.document, 0, NULL);
    managed_plan_describe(document, &row, &text);
    text_addf(&text, "digest: %s\n", row.digest);
    *reply = json_pack("{s:s, s:s}", "text", text_string(&text), "digest", row.digest);
    fleet_plan_finish(&row);
    return true;
}

bool admin_plan_approve(const struct access *access, const json_t *request, json_t **reply,
                        struct error *error)
{
    const char *plan = json_get_text(request, "plan", "");
    struct change change = { .actor = COMMAND_LINE(request), .tool = "plan approve" };
    json_auto_t *logged = json_pack("{s:s}", "plan", plan);
    FREE_AUTO char *arguments = json_write(logged);

    change.arguments = arguments;
    return fleet_plan_approve(access->store, plan, FLEET_WAY_COMMAND_LINE, clock_utc_ms(), &change,
                              error)
           && admin_plan_show(access, request, reply, error);
}

bool admin_fleet_resume(const struct access *access, const json_t *request, json_t **reply,
                        struct error *error)
{
    struct change change = { .actor = COMMAND_LINE(request),
                             .tool = "fleet resume",
                             .arguments = "{}" };

    if (!fleet_place_resume(access->store, &change, error))
        return false;
    *reply = json_pack("{s:b}", "resumed", 1);
    return true;
}
