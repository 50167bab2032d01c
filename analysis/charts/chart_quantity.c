/* SPDX-License-Identifier: Apache-2.0 */
/* The table of figures that charts can show. */
#include <math.h>
#include <string.h>

#include "analysis/charts/chart.h"

#define RATE(name, title, unit, member)                                                            \
    {                                                                                              \
        name, title, unit, offsetof(struct evidence_cell, member), false                           \
    }
#define LATENCY(name, title, metric, member)                                                       \
    {                                                                                              \
        name, title, "ms", offsetof(struct evidence_cell, latency[metric].member), true            \
    }

const struct chart_quantity chart_quantities[] = {
    RATE("requests_per_s", "requests/s", "requests/s", request_throughput),
    RATE("output_tokens_per_s", "output tokens/s", "tokens/s", output_throughput),
    RATE("tokens_per_s", "tokens/s", "tokens/s", token_throughput),
    RATE("total_tokens_per_s", "input and output tokens/s", "tokens/s", total_throughput),
    RATE("goodput", "good requests/s", "requests/s", goodput),
    LATENCY("ttft_p50_ms", "TTFT median", METRIC_TTFT, p50_ms),
    LATENCY("ttft_p99_ms", "TTFT p99", METRIC_TTFT, p99_ms),
    LATENCY("ttft_mean_ms", "TTFT mean", METRIC_TTFT, mean_ms),
    LATENCY("itl_p50_ms", "ITL median", METRIC_ITL, p50_ms),
    LATENCY("itl_p99_ms", "ITL p99", METRIC_ITL, p99_ms),
    LATENCY("itl_mean_ms", "ITL mean", METRIC_ITL, mean_ms),
    LATENCY("tpot_p50_ms", "TPOT median", METRIC_TPOT, p50_ms),
    LATENCY("tpot_mean_ms", "TPOT mean", METRIC_TPOT, mean_ms),
    LATENCY("e2e_p50_ms", "whole request, median", METRIC_E2E, p50_ms),
    LATENCY("e2e_p95_ms", "whole request, p95", METRIC_E2E, p95_ms),
    LATENCY("e2e_p99_ms", "whole request, p99", METRIC_E2E, p99_ms),
    LATENCY("e2e_mean_ms", "whole request, mean", METRIC_E2E, mean_ms),
    { 0 },
};

const struct chart_quantity *chart_quantity_find(const char *name)
{
    for (const struct chart_quantity *row = chart_quantities; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static bool has(const struct chart_runs *runs, const struct chart_quantity *quantity)
{
    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; i < runs->runs[r].cell_count; i++) {
            const char *cell = (const char *)&runs->runs[r].cells[i];

            if (isfinite(*(const double *)(const void *)(cell + quantity->offset)))
                return true;
        }
    return false;
}

const struct chart_quantity *chart_quantity_default(const struct chart_runs *runs)
{
    for (const struct chart_quantity *row = chart_quantities; row->name != NULL; row++)
        if (has(runs, row))
            return row;
    return chart_quantities;
}
