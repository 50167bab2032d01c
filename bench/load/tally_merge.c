/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the tallies of a cell's threads, and computes what can be known only afterwards. */
#include <math.h>
#include <string.h>

#include "bench/load/tally.h"

/* If the mean number of tokens per chunk differs from 1 by less than this, each chunk counts as one
 * token. */
#define ONE_TOKEN_TOLERANCE 0.02

static void merge_range(struct range *into, const struct range *from)
{
    if (from->low == INT64_MAX)
        return;
    into->low = from->low < into->low ? from->low : into->low;
    into->high = from->high > into->high ? from->high : into->high;
}

/* The threads run at the same time, so their numbers of requests in flight, or of thinking users,
 * add up. */
static void merge_flight(struct flight *into, const struct flight *from)
{
    if (from->range.low == INT64_MAX)
        return;
    into->busy_ns += from->busy_ns;
    into->range.low = into->range.low == INT64_MAX ? 0 : into->range.low;
    into->range.low += from->range.low;
    into->range.high += from->range.high;
}

static void merge_failures(struct tally *into, const struct tally *from)
{
    for (int i = 0; i < FAILURE_COUNT; i++) {
        into->failures[i] += from->failures[i];
        into->early_failures[i] += from->early_failures[i];
        if (into->failure_texts[i][0] == '\0')
            memcpy(into->failure_texts[i], from->failure_texts[i], TALLY_FAILURE_TEXT_SIZE);
    }
}

static void merge_tokens(struct tally *into, const struct tally *from)
{
    requested_lengths_merge(&into->asked, &from->asked);
    merge_range(&into->input, &from->input);
    merge_range(&into->output, &from->output);
    into->input_reported += from->input_reported;
    into->input_tokens += from->input_tokens;
    into->cached_tokens += from->cached_tokens;
    into->reasoning_reported += from->reasoning_reported;
    into->reasoning_tokens += from->reasoning_tokens;
    into->reasoned += from->reasoned;
    into->output_tokens += from->output_tokens;
    into->chunks += from->chunks;
    into->window_tokens += from->window_tokens;
    into->window_chunks += from->window_chunks;
    into->uncounted_chunks += from->uncounted_chunks;
    for (int i = 0; i < TALLY_SECONDS; i++)
        into->second_chunks[i] += from->second_chunks[i];
}

void tally_merge(struct tally *into, const struct tally *from)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        histogram_merge(into->latency[i], from->latency[i]);
    histogram_merge(into->chunk_gaps, from->chunk_gaps);
    histogram_merge(into->lag, from->lag);
    histogram_merge(into->wake, from->wake);
    histogram_merge(into->start_lag, from->start_lag);
    histogram_merge(into->connect, from->connect);
    histogram_merge(into->tls, from->tls);
    into->new_connections += from->new_connections;
    into->attempted += from->attempted;
    into->succeeded += from->succeeded;
    into->unanswered += from->unanswered;
    into->unsent += from->unsent;
    into->waited += from->waited;
    into->held += from->held;
    into->window_sent += from->window_sent;
    into->ended.requests += from->ended.requests;
    into->ended.good += from->ended.good;
    into->ended.input_reported += from->ended.input_reported;
    into->ended.input_tokens += from->ended.input_tokens;
    into->ended.e2e_ns += from->ended.e2e_ns;
    into->stale_connections += from->stale_connections;
    into->left_open += from->left_open;
    into->finish_wrong += from->finish_wrong;
    into->finish_missing += from->finish_missing;
    into->done_missing += from->done_missing;
    merge_failures(into, from);
    merge_tokens(into, from);
    merge_flight(&into->flight, &from->flight);
    merge_flight(&into->thinking, &from->thinking);
    if (from->probe.end_ns != 0)
        into->probe = from->probe;
    request_records_merge(&into->records, &from->records);
    sent_totals_merge(&into->sent, &from->sent);
}

double tally_tokens_per_chunk(const struct tally *tally)
{
    int64_t counted = tally->window_chunks - tally->uncounted_chunks;

    return counted > 0 ? tally->window_tokens / (double)counted : NAN;
}

void tally_conclude(struct tally *tally)
{
    struct histogram *gaps = tally->latency[METRIC_ITL];

    if (histogram_count(gaps) == 0 && fabs(tally_tokens_per_chunk(tally) - 1) < ONE_TOKEN_TOLERANCE)
        histogram_merge(gaps, tally->chunk_gaps);
    if (tally->reasoned == 0)
        histogram_clear(tally->latency[METRIC_TTFO]);
}
