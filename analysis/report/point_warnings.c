/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/point_warnings.h"

#include <math.h>
#include <string.h>

#include "base/json/json.h"

/* The warning near_ceiling applies above this share of the stream chunks per second that the client
 * read when it was calibrated. */
#define NEAR_CEILING 0.6

/* ---- Warnings of one measured cell ---- */

static bool is_client_late(const struct cell_row *cell)
{
    return cell->measurement.client_late && !cell->measurement.client_limited;
}

static bool is_machine_busy(const struct cell_row *cell)
{
    return cell->measurement.machine_busy;
}

static bool is_client_limited(const struct cell_row *cell)
{
    return cell->measurement.client_limited;
}

static bool is_contaminated(const struct cell_row *cell)
{
    return cell->measurement.contaminated;
}

static bool is_near_ceiling(const struct cell_row *cell)
{
    return cell->measurement.ceiling_share > NEAR_CEILING;
}

/* concurrency_expected excludes users who think, since they have no request in flight. An open loop
 * has no users. */
static bool lacks_users(const struct cell_row *cell)
{
    double expected = cell->measurement.concurrency_expected;

    if (cell->request_rate > 0)
        return false;
    return cell->measurement.concurrency_actual
           < 0.95 * (expected > 0 ? expected : (double)cell->concurrency);
}

static bool was_overloaded(const struct cell_row *cell)
{
    return cell->measurement.overloaded;
}

static bool had_no_room(const struct cell_row *cell)
{
    return cell->measurement.waited_for_room > 0;
}

static bool was_uneven(const struct cell_row *cell)
{
    return cell->measurement.uneven;
}

static bool was_unsettled(const struct cell_row *cell)
{
    return cell->measurement.unsettled;
}

static bool lost_requests(const struct cell_row *cell)
{
    return cell->measurement.success_rate < 0.99;
}

static bool held_users(const struct cell_row *cell)
{
    return cell->measurement.held > 0;
}

static bool was_cut_off(const struct cell_row *cell)
{
    return cell->measurement.latency[METRIC_E2E].censored > 0
           || cell->measurement.latency[METRIC_TTFT].censored > 0;
}

static bool has_short_output(const struct cell_row *cell)
{
    return cell->measurement.output_tokens_mean < DECODE_TOKENS;
}

static bool lacks_token_gaps(const struct cell_row *cell)
{
    const struct latency_summary *latency = cell->measurement.latency;

    return latency[METRIC_ICL].count > 0 && latency[METRIC_ITL].count == 0;
}

static bool is_estimated(const struct cell_row *cell)
{
    return cell->measurement.tokens_estimated;
}

/* A difference of at most one token, or 1 %, is normal for templates and tokenizers. */
static bool matters(int64_t difference, int64_t requested)
{
    return difference > 1 && difference * 100 > requested;
}

static bool has_other_input(const struct cell_row *cell)
{
    const struct measurement *m = &cell->measurement;

    return matters(m->input_tokens_difference_max, m->input_tokens_requested);
}

static bool has_other_output(const struct cell_row *cell)
{
    return cell->measurement.output_tokens_differing != 0;
}

static bool was_cached(const struct cell_row *cell)
{
    const struct measurement *m = &cell->measurement;

    return (m->cached_tokens - m->shared_tokens) * 100 > m->input_tokens;
}

static bool missed_the_cache(const struct cell_row *cell)
{
    const struct measurement *m = &cell->measurement;

    return m->cached_told > 0 && m->cached_tokens * 2 < m->shared_tokens;
}

static bool repeated_prompts(const struct cell_row *cell)
{
    return cell->measurement.prompts_repeated > 0;
}

static bool left_prompts_out(const struct cell_row *cell)
{
    return cell->measurement.prompts_left_out > 0;
}

static bool had_lengths_cut(const struct cell_row *cell)
{
    return cell->measurement.lengths_cut > 0;
}

/* Throughput x latency is the number of requests in flight (Little 1961), unless the load rose,
 * fell or came in bursts during the window. */
static bool is_unsteady(const struct cell_row *cell)
{
    return fabs(cell->measurement.little_ratio - 1) > 0.2;
}

static double server_counter(const struct cell_row *cell, const char *name)
{
    json_auto_t *counters = cell_grid_server_counters(cell);

    return json_is_true(json_object_get(counters, name)) ? 1 : json_get_number(counters, name, 0);
}

static bool has_state(const struct cell_row *cell, const char *state)
{
    json_auto_t *counters = cell_grid_server_counters(cell);

    return strcmp(json_get_text(counters, "state", ""), state) == 0;
}

/* Whether the server's counters may cover only a part of the measurement. */
static bool is_partly_cross_checked(const struct cell_row *cell)
{
    return has_state(cell, "partial");
}

static bool is_not_cross_checked(const struct cell_row *cell)
{
    return has_state(cell, "absent");
}

static bool saw_preemptions(const struct cell_row *cell)
{
    return server_counter(cell, "preemptions") > 0;
}

static bool saw_restart(const struct cell_row *cell)
{
    return server_counter(cell, "restarted") > 0;
}

/* ---- Warnings of a point ---- */

static bool is_partly_measured(const struct grid_point *point)
{
    return grid_point_state(point) == CELL_MEASURED
           && grid_point_count(point, CELL_MEASURED) < point->count
           && grid_point_count(point, CELL_PENDING) == 0;
}

static bool is_scattered(const struct grid_point *point)
{
    const struct repetition_stats tokens = repetition_stats_of(point, QUANTITY_OUTPUT_TOKENS);

    return tokens.count > 1 && tokens.high - tokens.low > 0.1 * tokens.mean;
}

static bool has_few_samples(const struct grid_point *point)
{
    return repetition_stats_of(point, QUANTITY_E2E_P99).few
           || repetition_stats_of(point, QUANTITY_TTFT_P99).few;
}

const struct point_warning point_warnings[] = {
    { "client_limited", "opsbrain itself was late or busy: the server may be faster than shown",
      true, is_client_limited, NULL },
    { "client_late",
      "opsbrain read the slowest answers late: p99 and above may be too long by up to the cell's "
      "lag_p99_ms; rates, means and medians are right",
      false, is_client_late, NULL },
    { "machine_busy",
      "opsbrain was late because other programs used its machine: stop them, or run opsbrain on "
      "another machine",
      false, is_machine_busy, NULL },
    { "contaminated",
      "the server's own counters show that it also worked for other clients, every time the cell "
      "was measured",
      true, is_contaminated, NULL },
    { "near_ceiling",
      "the client read stream chunks at more than 60 % of the rate that this machine reached when "
      "it was calibrated: latencies may be the client's, not the server's",
      true, is_near_ceiling, NULL },
    { "concurrency",
      "on average, fewer than 95 % of the users who were not thinking had a request in flight",
      true, lacks_users, NULL },
    { "overloaded",
      "requests arrived faster than they were answered and the queue grew: there is no steady "
      "state, and latencies grow with the window's length",
      true, was_overloaded, NULL },
    { "no_room",
      "requests waited because the limit on requests in flight was reached; the latencies "
      "include their wait",
      true, had_no_room, NULL },
    { "uneven",
      "the server stalled, its speed changed or varied, or its metrics were missing for a while: "
      "means over the window can mislead",
      true, was_uneven, NULL },
    { "unsettled", "the warm-up ended at its limit, before the load had settled", false,
      was_unsettled, NULL },
    { "success",
      "fewer than 99 % of the requests succeeded: the point is omitted from peak and saturation",
      true, lost_requests, NULL },
    { "held",
      "users waited during the whole window for an answer that did not come before the cell "
      "ended, and no figure includes their wait: the server hangs, or a request takes longer than "
      "window_s",
      true, held_users, NULL },
    { "partly_measured",
      "not every repetition was measured; the figures are those of the measured ones", true, NULL,
      is_partly_measured },
    { "restarted", "the server's own counters fell: it restarted, or another replica answered",
      true, saw_restart, NULL },
    { "unsteady",
      "throughput x latency differs from the number of requests in flight by more than 20 %", true,
      is_unsteady, NULL },
    { "input_length", "prompts did not have the requested length, by the server's count", true,
      has_other_input, NULL },
    { "output_length", "answers did not have the requested length, by the server's count", true,
      has_other_output, NULL },
    { "cached",
      "in addition to the prefixes that the plan shares, more than 1 % of the input tokens came "
      "from the server's prefix cache",
      true, was_cached, NULL },
    { "not_cached",
      "less than half of the prefixes that the plan shares came from the server's prefix cache",
      false, missed_the_cache, NULL },
    { "repeated_prompts",
      "prompts of the dataset were sent more than once: the server may have had them cached "
      "(the plan's unique_prompts prevents this)",
      true, repeated_prompts, NULL },
    { "prompts_left_out",
      "prompts of the dataset were skipped: they do not fit the context, are too short or have no "
      "known length",
      false, left_prompts_out, NULL },
    { "lengths_cut",
      "some randomly drawn lengths were changed to fit the context or the shared prefix", false,
      had_lengths_cut, NULL },
    { "scattered", "repetitions differ by more than 10 % in output tokens/s", false, NULL,
      is_scattered },
    { "censored",
      "requests were cut off by a timeout or the cell's end: \">=\" means that the true value is "
      "not smaller",
      false, was_cut_off, NULL },
    { "few_samples", "\"~\" marks a p99 of fewer than 100 requests", false, NULL, has_few_samples },
    { "short_output", "fewer than 16 output tokens are too few to judge decoding", false,
      has_short_output, NULL },
    { "tokens_estimated",
      "answers lacked usage: their output tokens are estimated from the number of stream chunks",
      false, is_estimated, NULL },
    { "chunks",
      "stream chunks carried several tokens, or an unknown number, and the server did not report "
      "how many each had: there is no ITL, and gaps are between chunks",
      false, lacks_token_gaps, NULL },
    { "witness_partial",
      "the server's own counters do not account for all that was sent (perhaps it restarted, or "
      "has several instances): whether it also worked for other clients is not known",
      false, is_partly_cross_checked, NULL },
    { "witness_absent",
      "the server's own counters could not be read: whether it also worked for other clients is "
      "not known",
      false, is_not_cross_checked, NULL },
    { "preempted", "the server preempted requests: its KV cache was full", false, saw_preemptions,
      NULL },
};
const size_t point_warning_count = sizeof point_warnings / sizeof *point_warnings;

bool point_warning_applies(const struct point_warning *warning, const struct grid_point *point)
{
    if (warning->of_point != NULL)
        return warning->of_point(point);
    for (size_t i = 0; i < point->count; i++)
        if (point->cells[i] != NULL && point->cells[i]->state == CELL_MEASURED
            && warning->of_cell(point->cells[i]))
            return true;
    return false;
}

bool point_warning_is_marked(const struct grid_point *point)
{
    for (size_t i = 0; i < point_warning_count; i++)
        if (point_warnings[i].marks && point_warning_applies(&point_warnings[i], point))
            return true;
    return false;
}
