/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/repetition_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/stats/statistics.h"

/* clang-format off */
#define RATE(name, title, heading, member)                                                          \
    { name, title, heading, offsetof(struct measurement, member), 0, 0, false }
#define LATENCY(metric, quantile, member) offsetof(struct measurement, latency[metric].quantile##member)
#define MEDIAN(name, title, heading, metric, of_decoding)                                           \
    { name, title, heading, LATENCY(metric, p50, _ms), LATENCY(metric, p50, _censored), 0, of_decoding }
#define TAIL(name, title, heading, metric, of_decoding)                                             \
    { name, title, heading, LATENCY(metric, p99, _ms), LATENCY(metric, p99, _censored),                      \
      offsetof(struct measurement, latency[metric].count), of_decoding }
/* clang-format on */

const struct quantity quantities[QUANTITIES] = {
    [QUANTITY_E2E_P50] = MEDIAN("e2e_p50_ms", "E2E latency p50, ms", "E2E p50", METRIC_E2E, false),
    [QUANTITY_OUTPUT_TOKENS] =
        RATE("output_tokens_per_s", "Throughput, output tokens/s", "tokens/s", output_throughput),
    [QUANTITY_REQUESTS] =
        RATE("requests_per_s", "Throughput, requests/s", "req/s", request_throughput),
    [QUANTITY_TTFT_P50] = MEDIAN("ttft_p50_ms", "TTFT p50, ms", "TTFT p50", METRIC_TTFT, false),
    [QUANTITY_TTFT_P99] = TAIL("ttft_p99_ms", "TTFT p99, ms", "TTFT p99", METRIC_TTFT, false),
    [QUANTITY_ITL_P50] = MEDIAN("itl_p50_ms", "ITL p50, ms", "ITL p50", METRIC_ITL, true),
    [QUANTITY_ITL_P99] = TAIL("itl_p99_ms", "ITL p99, ms", "ITL p99", METRIC_ITL, true),
    [QUANTITY_ICL_P50] =
        MEDIAN("icl_p50_ms", "Gap between chunks p50, ms", "chunk gap p50", METRIC_ICL, true),
    [QUANTITY_ICL_P99] =
        TAIL("icl_p99_ms", "Gap between chunks p99, ms", "chunk gap p99", METRIC_ICL, true),
    [QUANTITY_TPOT_P50] = MEDIAN("tpot_p50_ms", "TPOT p50, ms", "TPOT p50", METRIC_TPOT, true),
    [QUANTITY_E2E_P99] = TAIL("e2e_p99_ms", "E2E latency p99, ms", "E2E p99", METRIC_E2E, false),
    [QUANTITY_GOODPUT] =
        RATE("goodput_per_s", "Goodput, requests/s within the limits", "goodput", goodput),
};

static double value_of(const struct measurement *measurement, const struct quantity *quantity)
{
    double value;

    if (quantity->of_decoding && measurement->output_tokens_mean < DECODE_TOKENS)
        return NAN;
    memcpy(&value, (const char *)measurement + quantity->offset, sizeof value);
    return value;
}

static bool is_censored(const struct measurement *measurement, const struct quantity *quantity)
{
    bool censored = false;

    if (quantity->censored_offset > 0)
        memcpy(&censored, (const char *)measurement + quantity->censored_offset, sizeof censored);
    return censored;
}

static bool has_few(const struct measurement *measurement, const struct quantity *quantity)
{
    int64_t samples;

    if (quantity->count_offset == 0)
        return false;
    memcpy(&samples, (const char *)measurement + quantity->count_offset, sizeof samples);
    return samples < TAIL_SAMPLES;
}

static double half_width(const double *values, size_t count)
{
    if (count < 2)
        return NAN;
    return statistics_t95(count - 1) * statistics_deviation(values, count) / sqrt((double)count);
}

struct repetition_stats repetition_stats_of(const struct grid_point *point, enum quantity_id id)
{
    const struct quantity *quantity = &quantities[id];
    struct repetition_stats out = { .mean = NAN, .low = NAN, .high = NAN, .half_width = NAN };
    FREE_AUTO double *values = memory_zeroed(point->count + 1, sizeof *values);

    for (size_t i = 0; i < point->count; i++) {
        const struct cell_row *cell = point->cells[i];
        double value;

        if (cell == NULL || cell->state != CELL_MEASURED)
            continue;
        value = value_of(&cell->measurement, quantity);
        if (!isfinite(value))
            continue;
        values[out.count++] = value;
        out.low = fmin(out.low, value);
        out.high = fmax(out.high, value);
        out.at_least |= is_censored(&cell->measurement, quantity);
        out.few |= has_few(&cell->measurement, quantity);
    }
    out.mean = statistics_mean(values, out.count);
    out.half_width = half_width(values, out.count);
    return out;
}

double repetition_stats_mean(const struct grid_point *point, enum quantity_id quantity)
{
    return repetition_stats_of(point, quantity).mean;
}

const char *repetition_stats_number(double value, char out[NUMBER_SIZE])
{
    double size = fabs(value);

    if (isfinite(value) && size < 1e15)
        snprintf(out, NUMBER_SIZE, "%.*f", size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, value);
    else
        snprintf(out, NUMBER_SIZE, "-");
    return out;
}

void repetition_stats_write(const struct repetition_stats *figure, struct text *out)
{
    char number[NUMBER_SIZE];

    text_addf(out, "%s%s", figure->at_least ? ">=" : "",
              repetition_stats_number(figure->mean, number));
    if (isfinite(figure->half_width))
        text_addf(out, " \xc2\xb1%s", repetition_stats_number(figure->half_width, number));
    text_add(out, figure->few ? "~" : "");
}
