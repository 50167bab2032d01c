/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a forest plot of two sides, each with one or more runs, compared as in run_compare. */

#include <string.h>

#include "handlers/charts/chart_request_parts.h"
#include "handlers/runs/compare_request.h"

/* Converts the call's arguments to arguments for run_compare. New reference. */
static json_t *compare_arguments(const struct call *call, const char *metric)
{
    static const char *const passed_on[] = { "factors", "accept_unknown", "keep_wrong" };
    const char *run = call_text(call, "run"), *candidate = call_text(call, "candidate");
    json_t *arguments = json_pack("{s:s*}", "metric", metric);

    if (candidate == NULL) {
        json_object_set_new(arguments, "sweep", json_string(run));
    } else {
        json_object_set_new(arguments, "baseline", json_pack("[s]", run));
        json_object_set_new(arguments, "candidate", json_pack("[s]", candidate));
    }
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        json_t *value = json_object_get(call->arguments, passed_on[i]);

        if (value != NULL)
            json_object_set(arguments, passed_on[i], value);
    }
    return arguments;
}

static CHECKED bool check(const struct call *call, struct error *error)
{
    const char *run = call_text(call, "run"), *metric = call_text(call, "quantity");
    TEXT_AUTO names = { 0 };

    if (run == NULL || (call_text(call, "candidate") == NULL && strncmp(run, "swp_", 4) != 0))
        return error_set(
            error, ERROR_INVALID,
            "forest compares two sides: give \"run\" and \"candidate\" (run_..., imp_... or "
            "swp_...), or an A/B sweep as \"run\"");
    for (size_t i = 0; compare_metric_names[i] != NULL; i++) {
        if (metric == NULL || strcmp(compare_metric_names[i], metric) == 0)
            return true;
        text_addf(&names, "%s%s", i > 0 ? ", " : "", compare_metric_names[i]);
    }
    return error_set(error, ERROR_INVALID, "quantity is \"%s\", but must be one of %s for forest",
                     metric, text_string(&names));
}

static void draw(const struct compare_request *request, struct chart *out)
{
    TEXT_AUTO baseline = { 0 };
    TEXT_AUTO candidate = { 0 };

    compare_request_name_side(request, SIDE_BASELINE, &baseline);
    compare_request_name_side(request, SIDE_CANDIDATE, &candidate);
    chart_forest(
        &(struct chart_comparison){
            .comparison = &request->comparison,
            .metric = request->input.metric,
            .names = { text_string(&baseline), text_string(&candidate) },
            .runs = { request->counts[SIDE_BASELINE], request->counts[SIDE_CANDIDATE] },
        },
        out);
}

bool chart_request_forest(struct call *call, struct chart *out, struct error *error)
{
    const json_t *before = call->arguments;
    json_auto_t *given = NULL, *checked = NULL;
    struct compare_request request;
    bool compared;

    if (!check(call, error))
        return false;
    given = compare_arguments(call, call_text(call, "quantity"));
    if (!tool_check(tool_find("run_compare"), given, &checked, error))
        return false;
    call->arguments = checked;
    compared = compare_request_run(call, &request, error);
    if (compared)
        draw(&request, out);
    compare_request_finish(&request);
    call->arguments = before;
    return compared;
}
