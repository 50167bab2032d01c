/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/plan_consent.h"

#include <string.h>

#include "base/core/memory.h"
#include "fleet/managed/managed_plan.h"
#include "handlers/consent.h"

bool plan_consent_ask(struct call *call, const struct fleet_plan_row *row, struct error *error)
{
    json_auto_t *document = json_loads(row->document, 0, NULL);
    TEXT_AUTO plan = { 0 };
    TEXT_AUTO summary = { 0 };
    TEXT_AUTO elsewhere = { 0 };

    managed_plan_describe(document, row, &plan);
    text_addf(&summary,
              "To %s %s on %s, a person's go-ahead is needed, but this client cannot ask its user.",
              row->verb, row->deployment, row->target);
    text_addf(
        &elsewhere,
        "A person can approve the plan on this server's page /plans/%s, with `opsbrain plan "
        "approve %s` in a shell on the server's machine, or with plan_approve in a client that "
        "can ask its user.",
        row->id, row->id);
    const struct consent consent = { .name = row->digest,
                                     .key = "agree",
                                     .title = "Do it",
                                     .plan = text_string(&plan),
                                     .summary = text_string(&summary),
                                     .declined = "Nothing was changed",
                                     .elsewhere = text_string(&elsewhere) };
    return consent_get(call, &consent, error);
}

bool plan_consent_check(const struct call *call, const struct fleet_plan_row *row, const char *way,
                        struct error *error)
{
    struct store *store = call->services->store;
    FREE_AUTO struct fleet_approval *rows = NULL;
    struct fleet_target_row target;
    size_t count;

    if (!fleet_target_find(store, row->target, &target, error)
        || !fleet_plan_approvals(store, row->id, &rows, &count, error))
        return false;
    if (way == NULL)
        return fleet_plan_allowed(&target, row, rows, count, error);
    rows = memory_resize(rows, count + 1, sizeof *rows);
    rows[count] = (struct fleet_approval){ 0 };
    text_copy(rows[count].principal, sizeof rows->principal, call->principal.name);
    text_copy(rows[count].way, sizeof rows->way, way);
    return fleet_plan_allowed(&target, row, rows, count + 1, error);
}

bool plan_consent_way(const struct call *call, const struct fleet_plan_row *row, const char **way,
                      struct error *error)
{
    const char *confirm = call_text(call, "confirm");
    struct error ignored;

    *way = NULL;
    if (plan_consent_check(call, row, NULL, &ignored))
        return true;
    *way = confirm == NULL ? FLEET_WAY_PERSON : FLEET_WAY_AGENT;
    if (confirm == NULL)
        return true;
    if (strcmp(confirm, row->digest) != 0)
        return error_set(error, ERROR_INVALID,
                         "\"confirm\" is not the digest of the plan %s: give the digest that "
                         "plan_show returns",
                         row->id);
    return plan_consent_check(call, row, FLEET_WAY_AGENT, error);
}
