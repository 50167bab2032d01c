/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/audit/audit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/audit/audit_needs.h"
#include "base/core/memory.h"

/* measured input lengths that differ by at most this share count as equal */
#define SAME_LENGTH_WITHIN 0.05

const struct audit_rule audit_rules[] = {
    { "duplicate_cells", "the same cell more than once in one file: several runs were appended", 5,
      audit_check_duplicates, "users, rates or lengths of rows", audit_needs_places },
    { "identical_runs", "the same figures, to the last digit, under another name", 5,
      audit_check_copies, "other imports", audit_needs_others },
    { "failed_speed", "a speed or a mean latency for a cell in which nothing succeeded", 5,
      audit_check_failed_speed, "numbers of successful requests", audit_needs_outcomes,
      .of_imports = true },
    { "low_success", "figures that do not fully include the requests that failed", 8,
      audit_check_success, "numbers of successful requests", audit_needs_outcomes },
    { "all_failed", "cells in which no request succeeded", 8, audit_check_all_failed,
      "numbers of successful requests", audit_needs_outcomes, .of_imports = true },
    { "misnamed_failure", "requests longer than the context, reported as a different failure", 7,
      audit_check_misnamed, "numbers of successful requests", audit_needs_outcomes },
    { "actual_load", "fewer requests in flight than the cell has users (Little's law)", 4,
      audit_check_actual_load, "users, rates and mean latencies", audit_needs_in_flight },
    { "load_plateau", "more users, but no more requests in flight", 4, audit_check_plateau,
      "rates and mean latencies at three numbers of users", audit_needs_three_levels },
    { "request_cap", "fewer requests than users", 4, audit_check_requests,
      "users and numbers of requests", audit_needs_requests },
    { "burst", "one burst of requests: no steady state", 3, audit_check_burst,
      "users and numbers of requests", audit_needs_rounds },
    { "front_door", "more users than the deployment admits at once", 6, audit_check_front_door,
      "container_concurrency and users", audit_needs_admission },
    { "first_shape", "a cold start (a compilation, an empty prefix cache) included in the figures",
      9, audit_check_first_shape, "mean latencies at two numbers of users",
      audit_needs_two_levels },
    { "non_monotone", "more work finished in less time: noise in single measurements", 16,
      audit_check_monotone, "mean latencies at two numbers of users", audit_needs_two_levels },
    { "censored_tail", "a timeout that cut off the slow requests", 10, audit_check_censored,
      "numbers of successful requests, with latencies or durations", audit_needs_slowest },
    { "few_samples", "percentiles from too few requests", 16, audit_check_samples,
      "percentiles and numbers of requests", audit_needs_percentiles, .of_imports = true },
    { "disorder", "latencies that contradict one another", 0, audit_check_order,
      "two figures for the same latency", audit_needs_order },
    { "one_token_output", "too few output tokens to judge generation speed", 1,
      audit_check_one_token, "output tokens", audit_needs_output },
    { "tokens_locked_to_context", "input tokens counted as generated", 11,
      audit_check_locked_tokens, "token rates, request rates and contexts",
      audit_needs_tokens_of_context },
    { "unknown_output", "output tokens that were not counted", 12, audit_check_unknown_output,
      .of_imports = true },
    { "tokens_estimated", "chunks counted as tokens", 12, audit_check_estimated,
      "warnings of opsbrain's load generator", audit_needs_warnings },
    { "length_mismatch", "prompts or answers of a different length than requested", 0,
      audit_check_lengths, "token lengths, both requested and measured", audit_needs_lengths,
      .of_imports = true },
    { "tokens_recounted", "tokens counted by a tokenizer other than the server's", 12,
      audit_check_recounted, "token counts of both the tool and the server",
      audit_needs_both_counts },
    { "prefix_cache", "prompts served from the prefix cache", 2, audit_check_cache,
      "cached tokens, or latencies of long prompts at two numbers of users", audit_needs_cache },
    { "client_limited", "the load generator was the bottleneck", 16, audit_check_client,
      "warnings of opsbrain's load generator", audit_needs_warnings },
    { "contaminated", "the server also worked for other clients", 16, audit_check_contaminated,
      "warnings of opsbrain's load generator", audit_needs_warnings },
    { "uneven",
      "the server stalled, its speed changed or varied, or its metrics were missing for a while",
      16, audit_check_uneven, "warnings of opsbrain's load generator", audit_needs_warnings },
    { "rates_disagree", "rates that do not follow from counts and durations", 0, audit_check_rates,
      "rates with the counts they were computed from", audit_needs_rates_twice,
      .of_imports = true },
    { "compute_roofline", "more arithmetic per second than the hardware can do", 14,
      audit_check_compute, "hardware, model and token rates", audit_needs_compute },
    { "bandwidth_roofline", "weights read faster than the memory allows", 14, audit_check_bandwidth,
      "hardware, model and token rates", audit_needs_bandwidth },
    { 0 },
};

const char *finding_weight_name(enum finding_weight weight)
{
    return weight == FINDING_CAUTION ? "caution" : "wrong";
}

void findings_finish(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->at[i].cells);
        text_finish(&findings->at[i].arithmetic);
        text_finish(&findings->at[i].consequence);
    }
    free(findings->at);
    *findings = (struct findings){ 0 };
}

struct finding *audit_add_finding(struct audit *audit, enum finding_weight weight)
{
    struct findings *findings = audit->findings;

    findings->at = memory_resize(findings->at, findings->count + 1, sizeof *findings->at);
    findings->at[findings->count] = (struct finding){ .rule = audit->rule, .weight = weight };
    return &findings->at[findings->count++];
}

void audit_finding_add_cell(struct finding *finding, size_t cell)
{
    finding->cells = memory_resize(finding->cells, finding->cell_count + 1, sizeof *finding->cells);
    finding->cells[finding->cell_count++] = cell;
}

void audit_report_cell(struct audit *audit, enum finding_weight weight, size_t cell,
                       struct finding **finding)
{
    if (*finding == NULL)
        *finding = audit_add_finding(audit, weight);
    audit_finding_add_cell(*finding, cell);
}

const struct evidence_cell *audit_first_cell(const struct audit *audit,
                                             const struct finding *finding)
{
    return &audit->evidence->cells[finding->cells[0]];
}

struct finding *audit_find_cells(struct audit *audit, enum finding_weight weight,
                                 bool (*matches)(const struct evidence_cell *cell))
{
    struct finding *finding = NULL;

    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        if (!matches(&audit->evidence->cells[i]))
            continue;
        audit_report_cell(audit, weight, i, &finding);
    }
    return finding;
}

/* What the run itself records takes precedence over what the caller states. */
static const char *first_stated(const char *by_run, const char *by_caller)
{
    return by_run[0] != '\0' || by_caller == NULL ? by_run : by_caller;
}

static enum audit_use use_of(const struct audit *audit)
{
    const struct audit_rule *rule = audit->rule;

    if (rule->of_imports && !audit->evidence->imported)
        return RULE_NOT_APPLICABLE;
    return rule->has == NULL || rule->has(audit) ? RULE_APPLIED : RULE_LACKS_FIGURES;
}

void audit_run(const struct audit_input *input, struct findings *out)
{
    const struct evidence_facts *facts = &input->evidence->facts;
    struct audit audit = { .input = input, .evidence = input->evidence, .findings = out };

    audit.chips = isnan(facts->chips) ? input->chips : facts->chips;
    if (input->catalog != NULL) {
        audit.hardware =
            catalog_find_hardware(input->catalog, first_stated(facts->hardware, input->hardware));
        audit.model = catalog_find_model(input->catalog, first_stated(facts->model, input->model));
    }
    out->hardware = audit.hardware;
    out->model = audit.model;
    for (audit.rule = audit_rules; audit.rule->name != NULL; audit.rule++) {
        enum audit_use use = use_of(&audit);

        out->uses[audit.rule - audit_rules] = use;
        if (use == RULE_APPLIED)
            audit.rule->check(&audit);
    }
}

void findings_mark(const struct findings *findings, struct evidence *evidence)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];

        for (size_t j = 0; finding->weight != FINDING_CAUTION && j < finding->cell_count; j++) {
            struct evidence_cell *cell = &evidence->cells[finding->cells[j]];

            if (cell->found_wrong == NULL)
                cell->found_wrong = finding->rule->name;
        }
    }
}

/* ---- Figures of a cell ---- */

bool audit_cell_is_measured(const struct evidence_cell *cell)
{
    return cell->state == EVIDENCE_MEASURED
           || (cell->state == EVIDENCE_UNKNOWN && cell->request_throughput > 0);
}

int audit_compare(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

bool audit_cells_same_run(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return strcmp(a->variant, b->variant) == 0;
}

bool audit_cells_same_length(const struct evidence_cell *a, const struct evidence_cell *b)
{
    double mean = a->input_tokens_mean, other = b->input_tokens_mean;

    if (!isnan(a->input_length) || !isnan(b->input_length))
        return fabs(a->input_length - b->input_length) < 0.5;
    return isnan(mean) || isnan(other)
           || fabs(mean - other) <= SAME_LENGTH_WITHIN * fmax(mean, other);
}

double audit_cell_users(const struct evidence_cell *cell)
{
    return cell->concurrency;
}

double audit_cell_mean_ms(const struct evidence_cell *cell)
{
    return cell->latency[METRIC_E2E].mean_ms;
}

double audit_cell_requests(const struct evidence_cell *cell)
{
    if (!isnan(cell->attempted))
        return cell->attempted;
    if (!isnan(cell->succeeded + cell->failed))
        return cell->succeeded + cell->failed;
    return cell->requests_asked;
}

double audit_cell_tokens_out(const struct evidence_cell *cell)
{
    if (!isnan(cell->output_tokens_mean))
        return cell->output_tokens_mean;
    if (cell->succeeded > 0 && !isnan(cell->output_tokens))
        return cell->output_tokens / cell->succeeded;
    if (cell->request_throughput > 0 && !isnan(cell->output_throughput))
        return cell->output_throughput / cell->request_throughput;
    return cell->output_tokens_asked;
}
