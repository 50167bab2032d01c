/* SPDX-License-Identifier: Apache-2.0 */
/* A chart by its plot's name and the other arguments of run_chart: the same for an agent, who gets
 * a picture, and for pages, which also have it as a table and a file. */
#pragma once

#include "analysis/charts/chart.h"
#include "handlers/tool.h"

/* The MCP App that shows charts interactively, in hosts that support it. */
#define CHART_APP_URI "ui://opsbrain/chart"

extern const char *const chart_request_plots[]; /* ends with NULL */
extern const struct param chart_request_params[];

/* Draws the chart of call->arguments, which were checked by run_chart's rows. Free with
 * chart_finish, even after a failure. */
CHECKED bool chart_request_draw(struct call *call, struct chart *out, struct error *error);
/* The same for arguments that are not checked yet: {"run": "run_...", "plot": "heat", "options":
 * {"quantity": "ttft_p50_ms"}}. Errors are masked and audited like those of a call. */
CHECKED bool chart_request_call(struct call *call, const json_t *arguments, struct chart *out,
                                struct error *error);
