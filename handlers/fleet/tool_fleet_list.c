/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_list: lists the deployments that opsbrain made or adopted, and what each costs. */

#include <math.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/answers/managed_answer.h"
#include "handlers/fleet/plan_answer.h"
#include "store/fleet/fleet_plans.h"

#define WAITING_MAX 20

static const struct param params[] = { { 0 } };

static const struct field waiting_fields[] = {
    { "plan", VALUE_TEXT, .help = "Its id, for plan_show and deployment_apply." },
    { "verb", VALUE_TEXT, .help = PLAN_VERB_HELP },
    { "deployment", VALUE_TEXT, .help = "The deployment's name." },
    { "target", VALUE_TEXT, .help = "The deployment's target." },
    { "usd_per_hour", VALUE_NUMBER, .optional = true,
      .help = "What the deployment will cost; missing: not known." },
    { "by", VALUE_TEXT, .help = "Who planned it." },
    { "good_until", VALUE_TEXT, .help = "It can be applied until then, UTC." },
    { 0 },
};

static const struct field fields[] = {
    { "managed", VALUE_LIST, .help = "Sorted by name.", .fields = managed_answer_fields },
    { "usd_per_hour", VALUE_NUMBER,
      .help = "Total cost of the deployments that are not stopped, as far as known." },
    { "waiting", VALUE_LIST, .sparse = true, .fields = waiting_fields,
      .help = "At most 20 valid plans that have not begun, newest first." },
    FIELD_NEXT_STEP,
    { 0 },
};

static json_t *waiting_json(const struct fleet_plan_row *row)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:o}", "plan", row->id, "verb", row->verb,
                     "deployment", row->deployment, "target", row->target, "usd_per_hour",
                     json_number_or_null(row->usd_known ? row->usd_per_hour : (double)NAN), "by",
                     row->principal, "good_until", answer_json_time(row->good_until_ms));
}

static CHECKED bool list_waiting(const struct call *call, json_t **out, struct text *text,
                                 struct error *error)
{
    struct fleet_plan_row *rows;
    size_t count;

    if (!fleet_plan_waiting(call->services->store, clock_utc_ms(), WAITING_MAX, &rows, &count,
                            error))
        return false;
    *out = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(*out, waiting_json(&rows[i]));
        text_addf(text, "Plan %s by %s is waiting: %s %s on %s.\n", rows[i].id, rows[i].principal,
                  rows[i].verb, rows[i].deployment, rows[i].target);
    }
    fleet_plan_rows_free(rows, count);
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct fleet_managed_row *rows;
    double usd = 0;
    size_t count;
    json_t *list, *waiting;

    if (!fleet_managed_list(call->services->store, &rows, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, managed_answer_json(&rows[i]));
        text_addf(&answer->text, "%s: ", rows[i].deployment);
        managed_answer_describe(&rows[i], &answer->text);
        usd += strcmp(rows[i].state, "stopped") == 0 ? 0 : rows[i].usd_per_hour;
    }
    fleet_managed_rows_free(rows, count);
    if (count == 0)
        text_add(&answer->text, "No deployments are managed: begin with deployment_plan.\n");
    else
        text_addf(&answer->text, "Total: %.2f USD per hour, as far as prices are known.\n", usd);
    answer->structured = json_pack("{s:o, s:f}", "managed", list, "usd_per_hour", usd);
    if (!list_waiting(call, &waiting, &answer->text, error))
        return false;
    json_object_set_new(answer->structured, "waiting", waiting);
    return true;
}

const struct tool tool_fleet_list = {
    .name = "fleet_list",
    .title = "List managed deployments with cost and end",
    .help = "Lists the deployments that opsbrain made or adopted: state, drift, current and past "
            "cost, and end. Also lists waiting plans.",
    .more = "The states are as last observed, normally at most a few minutes ago: see `seen_at`.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
