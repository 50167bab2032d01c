/* SPDX-License-Identifier: Apache-2.0 */
/* A chart as a file, .svg, .png, .csv or .json by the path's end, with run_chart's options in the
 * query. */
#pragma once

#include "web/page.h"

/* "/runs/{id}/{chart}.svg", "/sweeps/{id}/{chart}.svg"; {chart} is the name of a plot. */
CHECKED bool chart_file_of_thing(const struct page_request *request, struct page_answer *answer,
                                 struct error *error);
/* "/compare/forest.svg?a=&b=" */
CHECKED bool chart_file_of_two(const struct page_request *request, struct page_answer *answer,
                               struct error *error);
/* "/history/chart.svg?deployment=&minutes=" */
CHECKED bool chart_file_of_history(const struct page_request *request, struct page_answer *answer,
                                   struct error *error);
