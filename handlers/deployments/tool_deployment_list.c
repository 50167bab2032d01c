/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_list: lists the team's deployments. */

#include <inttypes.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "handlers/answers/deployment_answer.h"
#include "handlers/period.h"

static const struct param params[] = {
    PARAMS_PERIOD, /* a deployment's current revision was made in this period */
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field fields[] = {
    { "deployments", VALUE_LIST, .help = "In order of name.", .fields = deployment_answer_fields,
      .described_in = "deployment_show" },
    FIELD_NEXT_CURSOR,
    FIELD_NEXT_STEP,
    { 0 },
};

static void write_table(const struct deployment *deployments, size_t count, struct text *out)
{
    struct table *table = table_create();

    table_column(table, "Name", false);
    table_column(table, "URL", false);
    table_column(table, "Model", false);
    table_column(table, "Hardware", false);
    table_column(table, "Labels", false);
    table_column(table, "Owner", false);
    table_column(table, "Revision", true);
    for (size_t i = 0; i < count; i++) {
        const struct deployment *deployment = &deployments[i];

        table_cell(table, "%s", deployment->name);
        table_cell(table, "%.60s", deployment->url);
        table_cell(table, "%s", deployment->model[0] ? deployment->model : "(first)");
        table_cell(table, "%s", deployment->hardware[0] ? deployment->hardware : "-");
        table_cell(table, "%s", strcmp(deployment->labels, "{}") == 0 ? "-" : deployment->labels);
        table_cell(table, "%s", deployment->owner);
        table_cell(table, "%" PRId64, deployment->revision);
    }
    table_render(table, out);
    table_destroy(table);
}

#define PAGE 100

/* Finds deployments, in order of name: the first `limit` of those that come after the name `after`
 * and whose current revision was made in the period. */
static CHECKED bool find(struct store *store, const struct period *period, const char *after,
                         size_t limit, struct deployment *out, size_t *count, struct error *error)
{
    char last[sizeof out->name];
    size_t listed = PAGE;

    text_copy(last, sizeof last, after);
    for (*count = 0; listed == PAGE && *count < limit;) {
        FREE_AUTO struct deployment *page = NULL;

        if (!deployment_list(store, last, PAGE, &page, &listed, error))
            return false;
        for (size_t i = 0; i < listed && *count < limit; i++)
            if (period_contains(period, page[i].changed_ms))
                out[(*count)++] = page[i];
        if (listed > 0)
            text_copy(last, sizeof last, page[listed - 1].name);
    }
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *after = call_text(call, "cursor");
    size_t limit = answer_page_limit(call), count, shown;
    FREE_AUTO struct deployment *deployments = memory_zeroed(limit + 1, sizeof *deployments);
    struct period period;
    json_t *list;

    if (after != NULL && !text_is_name(after))
        return error_set(
            error, ERROR_INVALID,
            "\"cursor\" is not from deployment_list: omit it to start from the beginning");
    if (!period_read(call, &period, error)
        || !find(call->services->store, &period, after == NULL ? "" : after, limit + 1, deployments,
                 &count, error))
        return false;
    shown = count > limit ? limit : count;
    list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, deployment_answer_json(&deployments[i]));
    answer->structured = json_pack("{s:o}", "deployments", list);
    if (shown == 0 && after != NULL) {
        text_addf(&answer->text, "There are no more deployments to list after \"%s\".\n", after);
    } else if (shown == 0) {
        text_add(&answer->text, period.since_ms + period.until_ms > 0
                                    ? "No deployment has a current revision from that period.\n"
                                    : "No deployment is registered.\n");
        answer_next(answer, "deployment_register");
    } else
        write_table(deployments, shown, &answer->text);
    answer_page_end(answer, count > shown ? deployments[shown - 1].name : NULL);
    return true;
}

const struct tool tool_deployment_list = {
    .name = "deployment_list",
    .title = "List the deployments",
    .help = "Lists the registered model servers. Begin here: other tools take these names.",
    .more = "URL, model and hardware are as registered. The servers are not queried: "
            "deployment_show queries one.",
    .sets = SET_FLEET | SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
