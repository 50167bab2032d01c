/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a metrics page into a snapshot, with a table of the engines' names for our figures. Private
 * to fleet/. */
#pragma once

#include "fleet/engine_metrics.h"
#include "fleet/small_request.h"

/* Like engine_metrics_scrape, but `ask` sets the deadline and can cancel the request. */
CHECKED bool metrics_map_fetch(const struct small_request *ask, struct engine_metrics_snapshot *out,
                               struct error *error);
/* Like metrics_map_fetch, but also writes the page itself to *body, which must be empty. */
CHECKED bool metrics_map_fetch_page(const struct small_request *ask, struct text *body,
                                    struct engine_metrics_snapshot *out, struct error *error);

/* Sets every figure to NaN, and everything else to zero. */
void metrics_map_clear(struct engine_metrics_snapshot *out);
/* Reads an exposition text into a cleared snapshot. Returns the number of figures found, not
 * counting those in accepted_at. */
size_t metrics_map(const char *bytes, size_t length, struct engine_metrics_snapshot *out);
