/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_list: lists the datasets (prompts, or their lengths) that sweeps can measure with. */

#include "handlers/datasets/dataset_answer.h"
#include "handlers/period.h"

static const struct param params[] = {
    PARAMS_PERIOD, /* the time at which a dataset was imported lies in this period */
    { 0 },
};

static const struct field fields[] = {
    { "datasets", VALUE_LIST, .help = "In order of name.", .fields = dataset_fields },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct dataset_entry *entries;
    struct period period;
    json_t *list;
    size_t count;

    if (!period_read(call, &period, error)
        || !dataset_entry_list(call->services->store, &entries, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (!period_contains(&period, entries[i].created_ms))
            continue;
        json_array_append_new(list, dataset_json(&entries[i]));
        dataset_describe(&entries[i], &answer->text);
    }
    dataset_entries_free(entries, count);
    answer->structured = json_pack("{s:o}", "datasets", list);
    if (json_array_size(list) == 0) {
        text_add(&answer->text, count == 0 ? "There are no datasets.\n"
                                           : "No dataset was imported in that period.\n");
        answer_next(answer, "dataset_import; without a dataset, sweeps generate their prompts");
    }
    return true;
}

const struct tool tool_dataset_list = {
    .name = "dataset_list",
    .title = "List the prompts to measure with",
    .help = "Lists the datasets that sweeps can measure with, with counts and lengths.",
    .more = "dataset_import adds one; sweep_plan and sweep_start take one by its name.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
