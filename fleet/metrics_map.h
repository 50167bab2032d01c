/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines call the figures that we keep. Private to fleet/. */
#pragma once

#include "fleet/engine_metrics.h"
#include "fleet/small_request.h"

/* engine_metrics_scrape within the deadline of `ask`, and cancellable. */
CHECKED bool metrics_map_fetch(const struct small_request *ask, struct engine_metrics_snapshot *out,
                               struct error *error);
/* The same, with the page itself appended to *body. */
CHECKED bool metrics_map_fetch_page(const struct small_request *ask, struct text *body,
                                    struct engine_metrics_snapshot *out, struct error *error);

/* Every figure NaN. */
void metrics_map_clear(struct engine_metrics_snapshot *out);
/* Reads an exposition text into a cleared snapshot; how many figures it tells. */
size_t metrics_map(const char *bytes, size_t length, struct engine_metrics_snapshot *out);
