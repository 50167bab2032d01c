/* SPDX-License-Identifier: Apache-2.0 */
/* /history: what a deployment's server reported over time, with sweeps shaded, restarts marked by
 * lines, and revisions by numbers. */
#pragma once

#include "web/page.h"

CHECKED bool history_write(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* Writes the chart as a figure or, if it cannot be drawn, a sentence that says why. `minutes` NULL:
 * an hour. */
void history_write_chart(const struct page_request *request, const char *deployment,
                         const char *minutes, struct html *html);
