/* SPDX-License-Identifier: Apache-2.0 */
/* target_list: lists where model servers may be deployed. */

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "handlers/answer.h"
#include "handlers/fleet/target_answer.h"

static const struct param params[] = { { 0 } };

static const struct field fields[] = {
    { "targets", VALUE_LIST, .help = "Sorted by name.", .fields = target_answer_fields,
      .described_in = "target_show" },
    FIELD_NEXT_STEP,
    { 0 },
};

static void write_table(const struct fleet_target_row *rows, size_t count, struct text *out)
{
    struct table *table = table_create();

    table_column(table, "Name", false);
    table_column(table, "Provider", false);
    table_column(table, "Regions", false);
    table_column(table, "USD/h each", true);
    table_column(table, "USD/h all", true);
    for (size_t i = 0; i < count; i++) {
        table_cell(table, "%s", rows[i].name);
        table_cell(table, "%s", rows[i].provider);
        table_cell(table, "%s", rows[i].regions);
        table_cell(table, "%.2f", rows[i].deployment_usd);
        table_cell(table, "%.2f", rows[i].total_usd);
    }
    table_render(table, out);
    table_destroy(table);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    FREE_AUTO struct fleet_target_row *rows = NULL;
    size_t count;
    json_t *list;

    if (!fleet_target_list(call->services->store, &rows, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, target_answer_json(&rows[i]));
    answer->structured = json_pack("{s:o}", "targets", list);
    if (count == 0)
        text_add(&answer->text, "There are no targets: an admin adds one with target_register.\n");
    else
        write_table(rows, count, &answer->text);
    return true;
}

const struct tool tool_target_list = {
    .name = "target_list",
    .title = "List deployment targets",
    .help = "Lists where model servers may be deployed, and what they may cost there. "
            "deployment_plan takes a target's name.",
    .more = "target_show also asks the platform.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
