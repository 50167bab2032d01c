/* SPDX-License-Identifier: Apache-2.0 */
/* Serves a chart as a file. The path's extension selects the format (.svg, .png, .csv or .json).
 * The query sets options of run_chart; `dark` in the query selects the dark theme. */
#pragma once

#include "web/page.h"

/* "/runs/{id}/{chart}.svg", "/sweeps/{id}/{chart}.svg": the plot named {chart}. "/runs/{id}.svg",
 * "/sweeps/{id}.svg", and the same paths with .png: the heat map. */
CHECKED bool chart_file_of_plot(const struct page_request *request, struct page_answer *answer,
                                struct error *error);
/* "/compare/forest.svg?a=&b=" or "/compare.svg?a=&b=". ("/compare.json" is not a chart: see
 * compare_page_json.) */
CHECKED bool chart_file_of_comparison(const struct page_request *request,
                                      struct page_answer *answer, struct error *error);
/* "/history/chart.svg?deployment=&minutes=" or "/history.svg?deployment=&minutes=" */
CHECKED bool chart_file_of_history(const struct page_request *request, struct page_answer *answer,
                                   struct error *error);
