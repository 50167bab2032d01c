/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a chart from run_chart's arguments: for agents, which get a picture; for the chart app,
 * which gets SVG; and for pages, which also show the chart as a table and offer it as a file. */
#pragma once

#include "analysis/charts/chart.h"
#include "handlers/tool.h"

/* The MCP App that shows charts interactively, in hosts that support it. */
#define CHART_APP_URI "ui://opsbrain/chart"

extern const char *const chart_request_plots[]; /* ends with NULL */
extern const struct param chart_request_params[];

/* Draws the chart that call->arguments describe; tool_check must already have checked them. Free
 * *out with chart_finish, even after a failure. */
CHECKED bool chart_request_draw(struct call *call, struct chart *out, struct error *error);
/* Does the same with arguments that are not checked yet: {"run": "run_...", "plot": "heat",
 * "options": {"quantity": "ttft_p50_ms"}}. Errors are masked and audited as in a tool call. */
CHECKED bool chart_request_call(struct call *call, const json_t *arguments, struct chart *out,
                                struct error *error);
