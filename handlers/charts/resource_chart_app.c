/* SPDX-License-Identifier: Apache-2.0 */
/* ui://opsbrain/chart: the MCP App that shows charts in a chat, in hosts that support apps. Its
 * page gets the drawn chart from chart_draw, and reacts to the pointer like the charts on
 * opsbrain's pages. */

#include "handlers/charts/chart_request.h"
#include "handlers/resource.h"
#include "web/assets/assets.h"

extern const char chart_app_html[], chart_app_js[];
extern const size_t chart_app_html_length, chart_app_js_length;

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    const struct asset *marks = asset_find("marks.js");

    (void)call;
    (void)value;
    (void)error;
    text_add_bytes(out, chart_app_html, chart_app_html_length);
    text_add(out, "<script type=\"module\">\n");
    text_add_bytes(out, marks->bytes, *marks->length);
    text_add_bytes(out, chart_app_js, chart_app_js_length);
    text_add(out, "</script>\n");
    return true;
}

const struct resource resource_chart_app = {
    .name = "chart_app",
    .uri = CHART_APP_URI,
    .title = "Charts in the chat",
    .help =
        "The page of an MCP App that shows run_chart's charts in the chat, interactively, if the "
        "host shows apps.",
    .mime_type = "text/html;profile=mcp-app",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .unlisted = true,
    .read = read,
};
