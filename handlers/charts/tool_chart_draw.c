/* SPDX-License-Identifier: Apache-2.0 */
/* chart_draw: draws a chart for the MCP App (resource_chart_app.c). Models do not see this tool. */

#include "analysis/charts/svg.h"
#include "handlers/charts/chart_request.h"

static const struct field fields[] = {
    { "svg", VALUE_TEXT,
      .help = "The chart as SVG; each element that responds to the pointer is a <g>." },
    { 0 },
};

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    enum svg_colours colours = call_boolean(call, "dark", false) ? SVG_DARK : SVG_LIGHT;
    CHART_AUTO chart;
    TEXT_AUTO svg = { 0 };

    if (!chart_request_draw(call, &chart, error))
        return false;
    svg_write(&chart.drawing, colours, &svg);
    answer->structured = json_pack("{s:s}", "svg", text_string(&svg));
    text_add(&answer->text, "A chart for the app that requested it.");
    return true;
}

const struct tool tool_chart_draw = {
    .name = "chart_draw",
    .title = "Draw a chart for the app",
    .help = "run_chart's charts as SVG, which the chart app makes interactive; only that app calls "
            "this tool.",
    .more = "Models call run_chart, which answers with a picture.",
    .sets = SET_MEASURE,
    .params = chart_request_params,
    .params_described_in = "run_chart",
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .app = CHART_APP_URI,
    .is_for_apps = true,
    .run = run,
};
