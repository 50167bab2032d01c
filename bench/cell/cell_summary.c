/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/cell_summary.h"

#include <math.h>
#include <string.h>

#include "base/core/text.h"
#include "base/stats/statistics.h"

static double per(double sum, int64_t count)
{
    return count > 0 ? sum / (double)count : NAN;
}

/* Returns 0 if nothing was recorded, because then nothing was late. */
static double mean_ms(const struct histogram *histogram)
{
    return histogram_count(histogram) > 0 ? histogram_mean(histogram) / 1e6 : 0;
}

static double quantile_ms(const struct histogram *histogram, double q)
{
    return (double)histogram_quantile(histogram, q, NULL) / 1e6;
}

/* ---- Failures -------------------------------------------------------------------------------- */

static enum failure most_frequent(const int64_t failures[FAILURE_COUNT])
{
    int most = FAILURE_NONE;

    for (int i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        if (failures[i] > 0 && (most == FAILURE_NONE || failures[i] > failures[most]))
            most = i;
    return (enum failure)most;
}

enum failure cell_summary_main_failure(const struct tally *tally)
{
    enum failure failure = most_frequent(tally->failures);

    return failure != FAILURE_NONE ? failure : most_frequent(tally->early_failures);
}

static void fill_failures(const struct tally *tally, const int64_t failures[FAILURE_COUNT],
                          struct measurement *out)
{
    enum failure failure = most_frequent(failures);

    memcpy(out->failures, failures, sizeof out->failures);
    out->success_rate = per((double)out->succeeded, out->attempted);
    out->finish_wrong = tally->finish_wrong;
    out->finish_missing = tally->finish_missing;
    out->done_missing = tally->done_missing;
    if (failure != FAILURE_NONE)
        text_copy(out->first_error, sizeof out->first_error, tally->failure_texts[failure]);
}

/* ---- Tokens and rates ------------------------------------------------------------------------ */

/* The mean number of tokens per chunk; 1 if no answer reported its tokens. */
static double tokens_per_chunk(const struct tally *tally)
{
    double per_chunk = tally_tokens_per_chunk(tally);

    return isnan(per_chunk) ? 1 : per_chunk;
}

static void fill_tokens(const struct tally *tally, int64_t input_tokens, struct measurement *out)
{
    double uncounted = (double)tally->uncounted_chunks * tokens_per_chunk(tally);
    int64_t unreported = tally->succeeded - tally->input_reported;

    out->input_tokens_requested = input_tokens;
    out->output_tokens_requested = tally->load->output_tokens;
    out->tokens_estimated = !tally->load->workload->reports_usage || unreported > 0;
    requested_lengths_fill(&tally->asked, out);
    out->input_tokens = tally->input_tokens + tally->asked.uncounted_input;
    out->input_tokens_mean = per((double)tally->input_tokens, tally->input_reported);
    out->output_tokens_mean = per((double)tally->output_tokens, tally->succeeded);
    if (tally->input_reported > 0) {
        out->input_tokens_min = tally->input.low;
        out->input_tokens_max = tally->input.high;
    }
    if (tally->succeeded > 0) {
        out->output_tokens_min = tally->output.low;
        out->output_tokens_max = tally->output.high;
    }
    out->cached_tokens = tally->cached_tokens;
    out->output_tokens = llround(tally->window_tokens + uncounted);
    out->chunks = tally->window_chunks;
    out->tokens_per_chunk = tally_tokens_per_chunk(tally);
    out->reasoning_tokens_mean = per((double)tally->reasoning_tokens, tally->reasoning_reported);
}

/* The standard deviation of tokens/s over the full seconds of the window, but at most the first
 * TALLY_SECONDS of them. */
static double throughput_deviation(const struct tally *tally, double window_s)
{
    size_t seconds = window_s < TALLY_SECONDS ? (size_t)window_s : TALLY_SECONDS;
    double rates[TALLY_SECONDS];

    for (size_t i = 0; i < seconds; i++)
        rates[i] = (double)tally->second_chunks[i] * tokens_per_chunk(tally);
    return statistics_deviation(rates, seconds);
}

static void fill_rates(const struct tally *tally, double window_s, int64_t input_tokens,
                       struct measurement *out)
{
    int64_t unreported = tally->ended.requests - tally->ended.input_reported;

    out->request_throughput = (double)tally->ended.requests / window_s;
    out->input_throughput =
        (double)(tally->ended.input_tokens + unreported * input_tokens) / window_s;
    out->output_throughput = (double)out->output_tokens / window_s;
    out->output_throughput_deviation = throughput_deviation(tally, window_s);
    out->goodput = (double)tally->ended.good / window_s;
}

/* By Little's law, the average number in flight is throughput times latency, so little_ratio should
 * be about 1. */
static void fill_load(const struct tally *tally, double window_s, struct measurement *out)
{
    bool any = tally->flight.range.low != INT64_MAX;

    /* When the end of a closed loop's window is set, the sum may already include some time in
     * flight after that end. Without the limit, the mean could exceed the maximum. */
    out->concurrency_actual = tally->flight.busy_ns / (window_s * 1e9);
    if (any)
        out->concurrency_actual = fmin(out->concurrency_actual, (double)tally->flight.range.high);
    out->concurrency_min = any ? tally->flight.range.low : 0;
    out->concurrency_max = any ? tally->flight.range.high : 0;
    out->little_ratio = tally->ended.e2e_ns / (window_s * 1e9) / out->concurrency_actual;
}

/* For an open loop: the request rates (asked for, scheduled, sent), and how many requests stayed
 * unanswered, were not sent, or had to wait. */
static void fill_arrivals(const struct tally *tally, double window_s, struct measurement *out)
{
    const struct arrivals *arrivals = tally->load->arrivals;

    if (arrivals == NULL)
        return;
    out->request_rate_asked = arrivals->rate;
    out->request_rate_scheduled = (double)tally->attempted / window_s;
    out->request_rate_sent = (double)tally->window_sent / window_s;
    out->unanswered = tally->unanswered;
    out->unsent = tally->unsent;
    out->waited_for_room = tally->waited;
}

/* Returns NaN if nothing was recorded. */
static double quantile_or_nan_ms(const struct histogram *histogram, double q)
{
    return histogram_count(histogram) > 0 ? quantile_ms(histogram, q) : NAN;
}

static void fill_connections(const struct tally *tally, struct measurement *out)
{
    out->new_connections = tally->new_connections;
    out->connect_p50_ms = quantile_or_nan_ms(tally->connect, 0.5);
    out->connect_p99_ms = quantile_or_nan_ms(tally->connect, 0.99);
    out->tls_p50_ms = quantile_or_nan_ms(tally->tls, 0.5);
    out->tls_p99_ms = quantile_or_nan_ms(tally->tls, 0.99);
}

static void fill_client(const struct tally *tally, struct measurement *out)
{
    out->lag_p50_ms = fmax(quantile_ms(tally->lag, 0.5), quantile_ms(tally->wake, 0.5));
    out->lag_p99_ms = fmax(quantile_ms(tally->lag, 0.99), quantile_ms(tally->wake, 0.99));
    out->lag_mean_ms = fmax(mean_ms(tally->lag), mean_ms(tally->wake));
    out->start_lag_mean_ms = mean_ms(tally->start_lag);
    out->start_lag_p99_ms = quantile_ms(tally->start_lag, 0.99);
    out->stale_connections = tally->stale_connections;
    out->left_open = tally->left_open;
}

void cell_summary_fill(const struct tally *tally, double window_s, int64_t input_tokens,
                       struct measurement *out)
{
    out->window_s = window_s;
    out->attempted = tally->attempted;
    out->succeeded = tally->succeeded;
    out->held = tally->held;
    fill_failures(tally, tally->failures, out);
    fill_tokens(tally, input_tokens, out);
    fill_rates(tally, window_s, input_tokens, out);
    fill_load(tally, window_s, out);
    fill_connections(tally, out);
    fill_arrivals(tally, window_s, out);
    fill_client(tally, out);
    for (int i = 0; i < METRIC_COUNT; i++)
        latency_summary_of(tally->latency[i], &out->latency[i]);
}

void cell_summary_fill_early(const struct tally *tally, int64_t input_tokens,
                             struct measurement *out)
{
    out->input_tokens_requested = input_tokens;
    out->output_tokens_requested = tally->load->output_tokens;
    out->input_tokens_mean = out->output_tokens_mean = NAN;
    out->tokens_per_chunk = out->reasoning_tokens_mean = NAN;
    requested_lengths_fill(&tally->asked, out);
    out->little_ratio = out->cold_ttft_ms = NAN;
    out->throughput_ci = out->concurrency_expected = out->queue_growth = NAN;
    for (int i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        out->attempted += tally->early_failures[i];
    fill_failures(tally, tally->early_failures, out);
    fill_connections(tally, out);
    for (int i = 0; i < METRIC_COUNT; i++)
        latency_summary_of(tally->latency[i], &out->latency[i]);
}
