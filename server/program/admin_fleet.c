/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/admin_fleet.h"

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/secret_access.h"
#include "handlers/call.h"
#include "handlers/fleet/plan_answer.h"
#include "server/program/command_line.h"
#include "server/program/fleet_place.h"

bool admin_fleet_show_plan(const struct access *access, const json_t *request, json_t **reply,
                           struct error *error)
{
    struct answer answer = { 0 };
    struct fleet_plan_row row;
    bool done;

    if (!fleet_plan_find(access->store, json_get_text(request, "plan", ""), &row, error))
        return false;
    done = plan_answer_write(access->store, &row, &answer, error);
    if (done) {
        answer_condense(tool_find("plan_show"), true, &answer);
        *reply = json_pack("{s:s, s:s, s:O}", "text", text_string(&answer.text), "digest",
                           row.digest, "plan", answer.structured);
    }
    answer_finish(&answer);
    fleet_plan_finish(&row);
    return done;
}

bool admin_fleet_approve_plan(const struct access *access, const json_t *request, json_t **reply,
                              struct error *error)
{
    const char *plan = json_get_text(request, "plan", "");
    struct change change = { .actor = COMMAND_LINE(request), .tool = "plan approve" };
    json_auto_t *logged = json_pack("{s:s}", "plan", plan);
    FREE_AUTO char *arguments = json_write(logged);

    change.arguments = arguments;
    return fleet_plan_approve(access->store, plan, FLEET_WAY_COMMAND_LINE, clock_utc_ms(), &change,
                              error)
           && admin_fleet_show_plan(access, request, reply, error);
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
