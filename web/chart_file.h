/* SPDX-License-Identifier: Apache-2.0 */
/* Serves a chart as a file. The path's extension selects the format (.svg, .png, .csv or .json);
 * the query sets options of run_chart and, with `dark`, the dark theme. */
#pragma once

#include "web/page.h"

/* "/runs/{id}/{chart}.svg", "/sweeps/{id}/{chart}.svg"; {chart} is the name of a plot.
 * "/runs/{id}.svg", "/sweeps/{id}.svg", and the same with .png: the heat map. */
CHECKED bool chart_file_of_plot(const struct page_request *request, struct page_answer *answer,
                                struct error *error);
/* "/compare/forest.svg?a=&b=" or "/compare.svg?a=&b="; but "/compare.json" is compare_page_json. */
CHECKED bool chart_file_of_comparison(const struct page_request *request,
                                      struct page_answer *answer, struct error *error);
/* "/history/chart.svg?deployment=&minutes=" or "/history.svg?deployment=&minutes=" */
CHECKED bool chart_file_of_history(const struct page_request *request, struct page_answer *answer,
                                   struct error *error);
