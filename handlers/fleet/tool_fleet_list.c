/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_list: what opsbrain put up or took over, and what it costs. */

#include "handlers/answer.h"
#include "handlers/answers/managed_answer.h"

static const struct param params[] = { { 0 } };

static const struct field fields[] = {
    { "managed", VALUE_LIST, .help = "In order of name.", .fields = managed_answer_fields },
    { "usd_per_hour", VALUE_NUMBER, .help = "What those that run cost together, where known." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct fleet_managed_row *rows;
    double usd = 0;
    size_t count;
    json_t *list;

    if (!fleet_managed_list(call->services->store, &rows, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, managed_answer_json(&rows[i]));
        text_addf(&answer->text, "%s: ", rows[i].deployment);
        managed_answer_describe(&rows[i], &answer->text);
        usd += rows[i].state[0] == 's' ? 0 : rows[i].usd_per_hour; /* stopped */
    }
    fleet_managed_rows_free(rows, count);
    if (count == 0)
        text_add(&answer->text, "Nothing is managed: deployment_plan begins.\n");
    else
        text_addf(&answer->text, "Together %.2f USD per hour, where the price is known.\n", usd);
    answer->structured = json_pack("{s:o, s:f}", "managed", list, "usd_per_hour", usd);
    return true;
}

const struct tool tool_fleet_list = {
    .name = "fleet_list",
    .title = "List what is managed, with cost and end",
    .help = "Lists the deployments that opsbrain put up or took over: state, drift, what each "
            "costs and has cost, and when it ends.",
    .more = "As seen at the last look, at most some minutes ago.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
