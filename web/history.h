/* SPDX-License-Identifier: Apache-2.0 */
/* /history: what a deployment's server reported over time. Sweeps are shaded, restarts are marked
 * with lines, and revisions with numbers. */
#pragma once

#include "web/page.h"

CHECKED bool history_write(const struct page_request *request, struct page_answer *answer,
                           struct error *error);
/* Writes the chart as a figure or, if it cannot be drawn, the error message. If `minutes` is NULL,
 * the chart shows one hour. */
void history_write_chart(const struct page_request *request, const char *deployment,
                         const char *minutes, struct html *html);
