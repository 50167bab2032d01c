/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_latency_kinds.h"

static const struct chart_latency_kind kinds[] = {
    { METRIC_TTFT, "TTFT", "TTFT, ms", { "ttft_p50_ms", "ttft_mean_ms" }, { "ttft_p99_ms", NULL } },
    { METRIC_ITL, "ITL", "ITL, ms", { "itl_p50_ms", "itl_mean_ms" }, { "itl_p99_ms", NULL } },
    { METRIC_TPOT, "TPOT", "TPOT, ms", { "tpot_p50_ms", "tpot_mean_ms" }, { NULL, NULL } },
    { METRIC_E2E,
      "whole request",
      "whole request, ms",
      { "e2e_p50_ms", "e2e_mean_ms" },
      { "e2e_p99_ms", "e2e_p95_ms" } },
};

const char *chart_latency_title(enum metric metric)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].metric == metric)
            return kinds[i].title;
    return metric_name(metric);
}

const struct chart_latency_kind *chart_latency_kind(enum metric metric)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].metric == metric)
            return &kinds[i];
    return &kinds[0];
}
