/* SPDX-License-Identifier: Apache-2.0 */
/* The latencies that have a chart. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

/* What the chart of a latency shows: the first of `centres` and the first of `tails` that the runs
 * have. */
struct chart_latency_kind {
    enum metric metric;
    const char *title, *heading;
    const char *centres[2], *tails[2]; /* names of quantities; NULL: none */
};
/* The metric's row; the row of TTFT if the metric has no chart. */
const struct chart_latency_kind *chart_latency_kind(enum metric metric);
