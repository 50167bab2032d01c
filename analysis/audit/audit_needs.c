/* SPDX-License-Identifier: Apache-2.0 */
/* Determines whether a run has the figures that each of the audit's rules needs. That a rule could
 * not be applied does not mean that nothing is wrong. */

#include <string.h>

#include "analysis/audit/audit_needs.h"
#include "analysis/audit/audit_places.h"

/* ---- What a cell has ------------------------------------------------------------------------- */

static bool has_any_cell(const struct audit *audit,
                         bool (*matches)(const struct evidence_cell *cell))
{
    for (size_t i = 0; i < audit->evidence->cell_count; i++)
        if (matches(&audit->evidence->cells[i]))
            return true;
    return false;
}

static bool has_place(const struct evidence_cell *cell)
{
    return !isnan(cell->concurrency) || !isnan(cell->request_rate_asked)
           || !isnan(cell->input_length) || !isnan(cell->requests_asked);
}

static bool has_outcome(const struct evidence_cell *cell)
{
    return !isnan(cell->success_rate) || cell->state == EVIDENCE_FAILED
           || !isnan(cell->failed + cell->succeeded);
}

static bool has_in_flight(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && !isnan(audit_cell_users(cell))
           && (!isnan(cell->concurrency_actual)
               || !isnan(cell->request_throughput * audit_cell_mean_ms(cell)));
}

static bool has_requests(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && !isnan(audit_cell_users(cell))
           && !isnan(audit_cell_requests(cell));
}

static bool has_rounds(const struct evidence_cell *cell)
{
    return has_requests(cell) || !isnan(audit_cell_users(cell) + cell->succeeded);
}

static bool has_users(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && !isnan(audit_cell_users(cell));
}

static bool has_slowest(const struct evidence_cell *cell)
{
    const struct evidence_latency *e2e = &cell->latency[METRIC_E2E];

    return has_outcome(cell)
           && (!isnan(fmax(fmax(e2e->p95_ms, e2e->p99_ms), e2e->max_ms)) || !isnan(cell->duration_s)
               || !isnan(cell->request_throughput));
}

static bool has_percentiles(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell)
           && !isnan(isnan(cell->succeeded) ? audit_cell_requests(cell) : cell->succeeded)
           && (!isnan(cell->latency[METRIC_E2E].p95_ms) || !isnan(cell->latency[METRIC_E2E].p99_ms)
               || !isnan(cell->latency[METRIC_TTFT].p99_ms));
}

static bool has_two_figures(const struct evidence_latency *latency)
{
    const double each[] = { latency->mean_ms, latency->min_ms, latency->p50_ms, latency->p90_ms,
                            latency->p95_ms,  latency->p99_ms, latency->max_ms };
    size_t known = 0;

    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        known += isnan(each[i]) ? 0 : 1;
    return known > 1;
}

static bool has_order(const struct evidence_cell *cell)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (has_two_figures(&cell->latency[i]))
            return true;
    return !isnan(cell->latency[METRIC_TTFT].mean_ms + audit_cell_mean_ms(cell));
}

static bool has_output(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && !isnan(audit_cell_tokens_out(cell));
}

static bool reports_tokens_of_context(const struct evidence_cell *cell)
{
    double rate = isnan(cell->token_throughput) ? cell->output_throughput : cell->token_throughput;

    return audit_cell_is_measured(cell)
           && !isnan(rate / cell->request_throughput + cell->input_length);
}

static bool has_warning(const struct evidence_cell *cell)
{
    return cell->client_limited || cell->contaminated || cell->tokens_estimated
           || evidence_has_warning(cell, "uneven");
}

static bool has_lengths(const struct evidence_cell *cell)
{
    double in =
        isnan(cell->input_tokens_usage) ? cell->input_tokens_mean : cell->input_tokens_usage;
    double out =
        isnan(cell->output_tokens_usage) ? cell->output_tokens_mean : cell->output_tokens_usage;

    return audit_cell_is_measured(cell)
           && (!isnan(in + cell->input_length) || !isnan(out + cell->output_tokens_asked));
}

static bool reports_both_counts(const struct evidence_cell *cell)
{
    return !isnan(cell->input_tokens_mean + cell->input_tokens_usage)
           || !isnan(cell->output_tokens_mean + cell->output_tokens_usage);
}

static bool has_cache_counts(const struct evidence_cell *cell)
{
    return !isnan(cell->cached_share) || !isnan(cell->cached_tokens);
}

static bool is_long_and_timed(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell) && cell->input_length >= AUDIT_CACHE_LENGTH
           && (!isnan(cell->latency[METRIC_TTFT].p50_ms) || !isnan(audit_cell_mean_ms(cell)));
}

static bool has_rates_twice(const struct evidence_cell *cell)
{
    return audit_cell_is_measured(cell)
           && (!isnan(cell->request_throughput + cell->succeeded + cell->duration_s)
               || !isnan(cell->output_throughput + cell->output_tokens + cell->duration_s)
               || !isnan(cell->total_throughput + cell->input_throughput
                         + cell->output_throughput));
}

/* ---- What a run has -------------------------------------------------------------------------- */

/* Whether the cells that match have at least `needed` (at most 3) different numbers of users. */
static bool has_levels(const struct audit *audit, size_t needed,
                       bool (*matches)(const struct evidence_cell *cell))
{
    double seen[3] = { NAN, NAN, NAN };
    size_t count = 0;

    for (size_t i = 0; i < audit->evidence->cell_count && count < needed; i++) {
        double users = audit_cell_users(&audit->evidence->cells[i]);
        bool is_new = !isnan(users) && matches(&audit->evidence->cells[i]);

        for (size_t j = 0; j < count; j++)
            is_new = is_new && fabs(seen[j] - users) > 0.5;
        if (is_new)
            seen[count++] = users;
    }
    return count >= needed;
}

static bool has_mean(const struct evidence_cell *cell)
{
    return has_users(cell) && !isnan(audit_cell_mean_ms(cell));
}

bool audit_needs_places(const struct audit *audit)
{
    return audit->evidence->cell_count > 1 && has_any_cell(audit, has_place);
}

bool audit_needs_others(const struct audit *audit)
{
    return audit->input->next_other != NULL;
}

bool audit_needs_outcomes(const struct audit *audit)
{
    return has_any_cell(audit, has_outcome);
}

bool audit_needs_in_flight(const struct audit *audit)
{
    return has_any_cell(audit, has_in_flight);
}

bool audit_needs_three_levels(const struct audit *audit)
{
    return has_levels(audit, 3, has_in_flight);
}

bool audit_needs_requests(const struct audit *audit)
{
    return has_any_cell(audit, has_requests);
}

bool audit_needs_rounds(const struct audit *audit)
{
    return has_any_cell(audit, has_rounds);
}

bool audit_needs_admission(const struct audit *audit)
{
    return !isnan(audit->evidence->facts.container_concurrency) && has_any_cell(audit, has_users);
}

bool audit_needs_two_levels(const struct audit *audit)
{
    return has_levels(audit, 2, has_mean);
}

bool audit_needs_slowest(const struct audit *audit)
{
    return has_any_cell(audit, has_slowest);
}

bool audit_needs_percentiles(const struct audit *audit)
{
    return has_any_cell(audit, has_percentiles);
}

bool audit_needs_order(const struct audit *audit)
{
    return has_any_cell(audit, has_order);
}

bool audit_needs_output(const struct audit *audit)
{
    return has_any_cell(audit, has_output);
}

bool audit_needs_tokens_of_context(const struct audit *audit)
{
    return has_any_cell(audit, reports_tokens_of_context);
}

bool audit_needs_warnings(const struct audit *audit)
{
    return !audit->evidence->imported || has_any_cell(audit, has_warning);
}

bool audit_needs_lengths(const struct audit *audit)
{
    return audit->evidence->input_unit == LENGTH_TOKENS && has_any_cell(audit, has_lengths);
}

bool audit_needs_both_counts(const struct audit *audit)
{
    return has_any_cell(audit, reports_both_counts);
}

bool audit_needs_cache(const struct audit *audit)
{
    return has_any_cell(audit, has_cache_counts) || has_levels(audit, 2, is_long_and_timed)
           || audit_cache_describes_prompts(audit->evidence);
}

bool audit_needs_rates_twice(const struct audit *audit)
{
    return has_any_cell(audit, has_rates_twice);
}
