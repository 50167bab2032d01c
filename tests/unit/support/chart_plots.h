/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the kinds of charts that need other arguments besides the runs. Here, these arguments have
 * values that suit any runs. */
#pragma once

#include "analysis/charts/chart.h"
#include "tests/unit/support/shaped_runs.h"

#define COMPARED_CELLS_LIMIT (COMPARE_CELLS_MAX / 2) /* for each of two runs */

static inline void draw_heat(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_default(runs), out);
}

static inline void draw_heat_of_ttft(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_find("ttft_p50_ms"), out);
}

static inline void draw_ttft(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_TTFT, 300, out);
}

static inline void draw_e2e(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_E2E, 0, out);
}

static inline void draw_cost(const struct chart_runs *runs, struct chart *out)
{
    const struct chart_price prices[] = {
        { LONG_NAME, *runs, 0.7, "a price list", "2026-08-01" },
        { "other", *runs, 1.4, "a price list", "2026-08-01" },
    };

    chart_cost(prices, 2, out);
}

static inline void draw_tail(const struct chart_runs *runs, struct chart *out)
{
    struct chart_tail curves[CHART_TAILS_MAX];
    size_t count = chart_tails_of_runs(runs, METRIC_E2E, curves);

    chart_tail(runs->runs[0].facts.model, "whole request", curves, count, out);
}

/* Facts that the comparison accepts even if they are unknown. */
static const char *const facts[] = { "model",    "model_revision", "quantization",
                                     "engine",   "engine_version", "flags",
                                     "hardware", "chips",          "provider",
                                     "region",   "limits",         "workload",
                                     "tool",     "dataset",        NULL };

/* Compares the first half of the runs with the second half, or a single run with itself. If the
 * number of runs is odd (and not 1), the last run is omitted. If the first run has
 * COMPARED_CELLS_LIMIT cells or more, nothing is compared, and the chart shows an empty
 * comparison. */
static inline void draw_forest(const struct chart_runs *runs, struct chart *out)
{
    static const char *const none[] = { NULL };
    struct evidence sides[COMPARE_RUNS_MAX];
    const size_t count = runs->count > 1 ? runs->count / 2 : 1;
    const struct compare_input input = { .runs = sides,
                                         .counts = { count, count },
                                         .factors = none,
                                         .accepted = facts,
                                         .as_deployments = true,
                                         .keeps_wrong = true };
    COMPARISON_AUTO comparison = { 0 };
    const struct chart_comparison compared = {
        &comparison, 0, { "one", LONG_NAME }, { count, count }
    };

    for (size_t i = 0; i < 2 * count; i++)
        sides[i] = runs->runs[i % runs->count];
    if (runs->runs[0].cell_count < COMPARED_CELLS_LIMIT)
        compare_runs(&input, &comparison);
    chart_forest(&compared, out);
}

/* Draws a day in a server's history: series with gaps, restarts, two sweeps, notes, and a panel
 * without a series. Some of the data lies outside the day. `ends_ms`: the end of the time axis. */
static inline void draw_history_to(const char *name, int64_t ends_ms, struct chart *out)
{
    static struct chart_moment moments[2][288];
    const struct chart_series load[] = { { "running", moments[0], 288 },
                                         { LONG_NAME, moments[1], 288 } };
    const struct chart_panel panels[] = { { "requests", false, load, 2 },
                                          { "TTFT, ms", true, load, 1 },
                                          { "KV cache, %", false, NULL, 0 },
                                          { "tokens/s", false, load, 1 } };
    const struct chart_span spans[] = { { 3600000, 7200000 }, { -5, 90000000 } };
    const int64_t restarts[] = { 40000000, 90000000 };
    const struct chart_note notes[] = { { 20000000, "deployed " LONG_NAME },
                                        { 20000001, "again" },
                                        { 99000000000, "later" } };
    const struct chart_history history = { 0, ends_ms,  300000, panels, 4, spans,
                                           2, restarts, 2,      notes,  3 };

    for (int i = 0; i < 288; i++) {
        moments[0][i] = (struct chart_moment){ i * 300000, i > 100 && i < 120 ? NAN : i % 40 };
        moments[1][i] = (struct chart_moment){ i * 300000 + (i > 200 ? 3000000 : 0), 1e6 * i };
    }
    chart_history(name, &history, out);
}
