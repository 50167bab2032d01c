/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up cells for the tests of analysis/, with figures that are easy to predict. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/ledger/sweeps.h"

#define CELLS 256

struct cells {
    struct cell_row rows[CELLS];
    size_t count;
};

static inline struct latency_summary latency(double p50_ms, int64_t count)
{
    return (struct latency_summary){ .count = count,
                                     .mean_ms = p50_ms,
                                     .p50_ms = p50_ms,
                                     .p90_ms = p50_ms * 1.5,
                                     .p95_ms = p50_ms * 1.8,
                                     .p99_ms = p50_ms * 2,
                                     .p999_ms = p50_ms * 3,
                                     .min_ms = p50_ms / 2,
                                     .max_ms = p50_ms * 4 };
}

static inline struct cell_row *cell_add(struct cells *cells, int64_t users, int64_t context,
                                        int64_t output, int64_t repetition, enum cell_state state)
{
    struct cell_row *cell = &cells->rows[cells->count++];

    if (cells->count > CELLS)
        abort();
    *cell = (struct cell_row){ .position = (int64_t)cells->count,
                               .repetition = repetition,
                               .concurrency = users,
                               .input_tokens = context,
                               .output_tokens = output,
                               .state = state };
    cell->measurement.cold_ttft_ms = NAN;
    return cell;
}

/* Adds a cell without problems: 1,000 requests with a median latency of `e2e_ms`. */
static inline struct cell_row *cell_measured(struct cells *cells, int64_t users, int64_t context,
                                             double tokens_per_s, double e2e_ms)
{
    static const int64_t output = 100;
    struct cell_row *cell = cell_add(cells, users, context, output, 0, CELL_MEASURED);

    cell->measurement = (struct measurement){
        .window_s = 10,
        .attempted = 1000,
        .succeeded = 1000,
        .success_rate = 1,
        .concurrency_actual = (double)users,
        .concurrency_expected = (double)users,
        .little_ratio = 1,
        .input_tokens_requested = context,
        .input_tokens_min = context,
        .input_tokens_max = context,
        .input_tokens_mean = (double)context,
        .output_tokens_requested = output,
        .output_tokens_min = output,
        .output_tokens_max = output,
        .output_tokens_mean = (double)output,
        .input_tokens = context * 1000,
        .output_throughput = tokens_per_s,
        .request_throughput = tokens_per_s / (double)output,
        .cold_ttft_ms = NAN,
        .latency = { [METRIC_TTFT] = latency(e2e_ms / 10, 1000),
                     [METRIC_ICL] = latency(e2e_ms / 110, 99000),
                     [METRIC_ITL] = latency(e2e_ms / 110, 99000),
                     [METRIC_TPOT] = latency(e2e_ms / 110, 1000),
                     [METRIC_E2E] = latency(e2e_ms, 1000) },
    };
    return cell;
}

static inline struct cell_row *cell_failed(struct cells *cells, int64_t users, int64_t context,
                                           enum failure failure, const char *message)
{
    struct cell_row *cell = cell_add(cells, users, context, 100, 0, CELL_FAILED);

    cell->measurement.attempted = 50;
    cell->measurement.failures[failure] = 40;
    cell->measurement.succeeded = 10;
    cell->measurement.success_rate = 0.2;
    /* The figures of the few requests that succeeded must not be shown. */
    cell->measurement.output_throughput = 7777;
    cell->measurement.latency[METRIC_E2E] = latency(7777, 10);
    strncpy(cell->measurement.first_error, message, sizeof cell->measurement.first_error - 1);
    return cell;
}
