/* SPDX-License-Identifier: Apache-2.0 */
/* The names of metrics and verdicts, and of the reasons for not comparing a cell. */
#include <stddef.h>

#include "analysis/compare/compare.h"

const char *const compare_metric_names[] = {
    "output_throughput", "request_throughput",
    "ttft_p50",          "ttft_p99",
    "itl_p50",           "tpot_p50",
    "e2e_p50",           "e2e_p99",
    "icl_p50",           NULL,
};

#define LATENCY(metric, percentile)                                                                \
    .offset = offsetof(struct evidence_cell, latency[metric].percentile##_ms),                     \
    .censored_offset = offsetof(struct evidence_cell, latency[metric].percentile##_at_least)

const struct compare_metric compare_metrics[] = {
    { "output tokens/s", offsetof(struct evidence_cell, output_throughput),
      .higher_is_better = true, .of_tokens = true },
    { "requests/s", offsetof(struct evidence_cell, request_throughput), .higher_is_better = true },
    { "TTFT p50", LATENCY(METRIC_TTFT, p50) },
    { "TTFT p99", LATENCY(METRIC_TTFT, p99) },
    { "ITL p50", LATENCY(METRIC_ITL, p50), .of_decoding = true, .of_tokens = true },
    { "TPOT p50", LATENCY(METRIC_TPOT, p50), .of_decoding = true, .of_tokens = true },
    { "E2E p50", LATENCY(METRIC_E2E, p50) },
    { "E2E p99", LATENCY(METRIC_E2E, p99) },
    { "gap between chunks p50", LATENCY(METRIC_ICL, p50), .of_decoding = true },
};

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {
        [VERDICT_NOT_COMPARABLE] = "not_comparable",
        [VERDICT_NO_EVIDENCE] = "no_evidence",
        [VERDICT_FASTER] = "faster",
        [VERDICT_SLOWER] = "slower",
    };

    return names[verdict];
}

static const struct {
    const char *name, *help;
} left_out[LEFT_OUT_COUNT] = {
    [CELL_NOT_JUDGED] = { "not_judged", "" },
    [CELL_COMPARED] = { "compared", "" },
    [CELL_MISSING] = { "missing", "not every run has it" },
    [CELL_TWICE] = { "twice", "a run has it more than once" },
    [CELL_NOT_MEASURED] = { "not_measured", "failed, infeasible, skipped or inferred" },
    [CELL_SUCCESS_UNKNOWN] = { "success_unknown", "how many requests succeeded is not known "
                                                  "(accept_unknown success_rate assumes all)" },
    [CELL_LOW_SUCCESS] = { "low_success", "fewer than 99 % of the requests succeeded" },
    [CELL_CLIENT_LIMITED] = { "client_limited", "the load generator was the bottleneck" },
    [CELL_CONTAMINATED] = { "contaminated", "the server also worked for other clients" },
    [CELL_FOUND_WRONG] = { "found_wrong",
                           "run_audit finds it wrong (keep_wrong compares it anyway)" },
    [CELL_NO_FIGURE] = { "no_figure", "a run's value of the metric is 0 or missing" },
    [CELL_CENSORED] = { "censored", "the percentile is only a lower bound" },
    [CELL_SHORT_OUTPUT] = { "short_output",
                            "fewer than 16 output tokens are too few to judge decoding" },
    [CELL_OTHER_OUTPUT] = { "other_output_length",
                            "the answers' mean length differs by more than 5 %" },
    [CELL_OTHER_COUNT] = { "other_token_count",
                           "tokens were reported by the server in some runs and estimated from "
                           "stream chunks in others" },
};

const char *left_out_name(enum left_out why)
{
    return left_out[why].name;
}

const char *left_out_help(enum left_out why)
{
    return left_out[why].help;
}
