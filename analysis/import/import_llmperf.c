/* SPDX-License-Identifier: Apache-2.0 */
/* Reads LLMPerf's *_summary.json: one flat object for each measurement, with times in seconds. */
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"

#define LATENCY(metric, name)                                                                      \
    { "results_" metric "_mean", "mean_" name }, { "results_" metric "_stddev", "std_" name },     \
        { "results_" metric "_min", "min_" name }, { "results_" metric "_max", "max_" name },      \
        { "results_" metric "_quantiles_p50", "p50_" name },                                       \
        { "results_" metric "_quantiles_p90", "p90_" name },                                       \
        { "results_" metric "_quantiles_p95", "p95_" name },                                       \
    {                                                                                              \
        "results_" metric "_quantiles_p99", "p99_" name                                            \
    }

static const struct import_alias aliases[] = {
    { "model", "model" },
    { "num_concurrent_requests", "concurrency" },
    { "mean_input_tokens", "isl" },
    { "mean_output_tokens", "osl" },
    LATENCY("ttft_s", "ttft_s"),
    LATENCY("end_to_end_latency_s", "e2e_s"),
    { "results_number_input_tokens_mean", "input_tokens_mean" },
    { "results_number_output_tokens_mean", "output_tokens_mean" },
    { "results_num_requests_started", "attempted" },
    { "results_num_completed_requests", "succeeded" },
    { "results_number_errors", "failed" },
    { "results_mean_output_throughput_token_per_s", "output_tok_per_s" },
    { "results_num_completed_requests_per_min", "requests_per_min" },
    { "timestamp", "" }, /* seconds since 1970 */
    { "*", "" },
    { NULL, NULL },
};

bool import_read_llmperf(const struct import_file *file, struct evidence *out, struct error *error)
{
    if (!import_table_read_rows(file, aliases, "name", out, error))
        return false;
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "llmperf");
    evidence_remark(out,
                    "LLMPerf counts tokens with the same tokenizer for every model, so tokens and "
                    "tokens/s are estimates; its inter_token_latency was not read, because it "
                    "includes the time to the first token, unlike TPOT, ITL and ICL here");
    return true;
}
