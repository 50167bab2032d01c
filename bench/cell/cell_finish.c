/* SPDX-License-Identifier: Apache-2.0 */
/* Fills in the result of a cell whose threads have ended, or of a cell that could not start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "bench/cell/cell_private.h"
#include "bench/cell/cell_summary.h"
#include "bench/cell/lateness.h"

/* The server is overloaded if the queue grows by more than this share of the arrivals, and by more
 * than chance explains: if arrivals are independent, the standard deviation of a queue of steady
 * length is about the square root of its length. */
#define GROWTH_SHARE 0.05
#define GROWTH_DEVIATIONS 4

/* The number of requests that were due but had not ended at the start of the window, according to
 * the line fitted to the samples. The line rises by `grown` during the window. */
static double backlog_at_start(const struct steady *backlog, double grown)
{
    double sum = 0;

    for (size_t i = 0; i < backlog->count; i++)
        sum += (double)backlog->samples[i].count;
    return sum / (double)backlog->count - grown / 2;
}

static void fill_growth(const struct cell *cell, struct measurement *out)
{
    const struct arrivals *arrivals = &cell->arrivals;
    double grown, by_chance;

    out->queue_growth = NAN;
    if (!cell_is_open(cell))
        return;
    out->queue_growth = steady_growth(&cell->backlog);
    grown = out->queue_growth * out->window_s;
    by_chance = GROWTH_DEVIATIONS
                * sqrt(fmax(backlog_at_start(&cell->backlog, grown), 1)
                       * fmax(arrivals_variation(arrivals), 1));
    out->overloaded = out->queue_growth > GROWTH_SHARE * arrivals->rate && grown > by_chance;
}

/* How many users were not thinking, averaged over the window; NaN in an open loop. */
static double expected_concurrency(const struct cell *cell, double window_s)
{
    if (cell_is_open(cell))
        return NAN;
    return (double)cell->order->concurrency - cell->total.thinking.busy_ns / (window_s * 1e9);
}

static double busiest_percent(const struct cell *cell)
{
    int64_t most_ns = 0;

    for (size_t i = 0; i < cell->shard_count; i++)
        most_ns = cell->cpu_ns[i] > most_ns ? cell->cpu_ns[i] : most_ns;
    return 100 * (double)most_ns / (double)cell->elapsed_ns;
}

static double longest_wait_percent(const struct cell *cell)
{
    int64_t most_ns = 0;

    for (size_t i = 0; i < cell->shard_count; i++)
        most_ns = cell->cpu_wait_ns[i] > most_ns ? cell->cpu_wait_ns[i] : most_ns;
    return 100 * (double)most_ns / (double)cell->elapsed_ns;
}

static void fill_measurement(struct cell *cell, struct measurement *out,
                             char why_uneven[EVENNESS_SIZE])
{
    int64_t start_ns = atomic_load(&cell->load.window_start_ns);
    double window_s = (double)(atomic_load(&cell->load.window_end_ns) - start_ns) / 1e9;
    const struct request *probe = &cell->total.probe;

    cell_summary_fill(&cell->total, window_s, cell->order->input_tokens, out);
    out->window_start_ms = cell->window_start_ms;
    out->warmup_s = (double)(start_ns - cell->begun_ns) / 1e9;
    out->drain_s = (double)(cell->ended_ns - cell->drain_ns) / 1e9;
    out->unsettled = cell->unsettled;
    out->throughput_ci = steady_half_width(&cell->progress);
    out->concurrency_expected = expected_concurrency(cell, window_s);
    evenness_judge(&cell->evenness, &cell->progress, cell->order->plan, out, why_uneven);
    fill_growth(cell, out);
    out->cpu_percent = busiest_percent(cell);
    out->ceiling_chunks_s = cell->order->ceiling_chunks_s * (double)cell->shard_count;
    if (out->ceiling_chunks_s > 0)
        out->ceiling_share = (double)out->chunks / window_s / out->ceiling_chunks_s;
    out->cpu_wait_percent = longest_wait_percent(cell);
    lateness_judge(out, cell_is_open(cell));
    out->cold_ttft_ms =
        probe->first_ns != 0 ? (double)(probe->first_ns - probe->sent_ns) / 1e6 : NAN;
}

/* Moves the histograms into the result, and packs the records of the requests. */
static void move_samples(struct cell *cell, struct cell_result *out)
{
    struct error error;
    void *packed;

    for (int i = 0; i < METRIC_COUNT; i++) {
        out->histograms[i] = cell->total.latency[i];
        cell->total.latency[i] = NULL;
    }
    if (!request_records_pack(&cell->total.records, &packed, &out->records_length, &error)) {
        log_warning("the request records of a cell are not stored: %s", error.message);
        return;
    }
    out->records = packed;
    out->records_count = (int64_t)cell->total.records.count;
}

/* If the server refuses or truncates requests of this shape, the cell is infeasible; otherwise it
 * failed. */
static void explain_failure(const struct cell *cell, struct cell_result *out)
{
    enum failure failure = cell_summary_main_failure(&cell->total);
    TEXT_AUTO reason = { 0 };

    out->state = failure == FAILURE_TOO_LONG || failure == FAILURE_SHORT_INPUT
                         || failure == FAILURE_REFUSED_400
                     ? CELL_INFEASIBLE
                     : CELL_FAILED;
    if (failure == FAILURE_NONE)
        text_addf(&reason,
                  cell_is_open(cell) ? "no request due in the window of %.0f s was answered"
                                     : "no request ended within the window of %.0f s",
                  out->measurement.window_s);
    else
        text_addf(&reason, "%s: %s", failure_name(failure), cell->total.failure_texts[failure]);
    text_copy(out->reason, sizeof out->reason, reason.data);
}

void cell_result_fill(struct cell *cell, struct cell_result *out)
{
    struct measurement *measurement = &out->measurement;
    char why_uneven[EVENNESS_SIZE] = "";

    prompt_source_digest(cell->prompts, out->workload_digest);
    tally_conclude(&cell->total);
    out->sent = sent_totals_total(&cell->total.sent, cell->order->input_tokens);
    if (atomic_load(&cell->load.window_start_ns) == INT64_MAX)
        cell_summary_fill_early(&cell->total, cell->order->input_tokens, measurement);
    else
        fill_measurement(cell, measurement, why_uneven);
    measurement->prompts_left_out = (int64_t)prompt_source_left_out(cell->prompts);
    move_samples(cell, out);
    out->state = CELL_MEASURED;
    if (measurement->succeeded == 0)
        explain_failure(cell, out);
    else
        text_copy(out->reason, sizeof out->reason, why_uneven);
}

void cell_result_fill_unsent(const struct error *why, struct cell_result *out)
{
    out->state = CELL_FAILED;
    text_copy(out->reason, sizeof out->reason, why->message);
    out->measurement.failures[why->kind == ERROR_UPSTREAM ? FAILURE_DNS : FAILURE_CLIENT_LIMIT] = 1;
    out->measurement.client_limited = why->kind != ERROR_UPSTREAM;
    text_copy(out->measurement.first_error, sizeof out->measurement.first_error, why->message);
}

void cell_result_finish(struct cell_result *result)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        histogram_destroy(result->histograms[i]);
    memory_free_pointer(&result->records);
    *result = (struct cell_result){ 0 };
}
