/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the file that trtllm-bench writes with --report_json: one object for each measurement. */
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"

#define STATISTICS(of, name)                                                                       \
    { of ".average", "mean_" name }, { of ".minimum", "min_" name },                               \
        { of ".maximum", "max_" name }, { of ".p50", "p50_" name }, { of ".p90", "p90_" name },    \
        { of ".p95", "p95_" name },                                                                \
    {                                                                                              \
        of ".p99", "p99_" name                                                                     \
    }

static const struct import_alias aliases[] = {
    { "engine.model", "model" },
    { "engine.version", "engine_version" },
    { "engine.dtype", "weights_type" },
    { "engine.kv_cache_dtype", "cache_type" },
    { "engine.quantization", "quantization" },
    { "machine.name", "hardware" },
    { "world_info.tp_size", "tensor_parallel" },
    { "world_info.world_size", "chips" },
    { "request_info.num_requests", "requests_asked" },
    { "request_info.avg_num_concurrent_requests", "concurrency_actual" },
    { "request_info.avg_input_length", "input_tokens_mean" },
    { "request_info.avg_output_length", "output_tokens_mean" },
    { "performance.total_latency_ms", "duration_ms" },
    { "performance.request_throughput_req_s", "requests_per_s" },
    { "performance.system_output_throughput_tok_s", "output_tok_per_s" },
    { "performance.system_total_throughput_tok_s", "total_tok_per_s" },
    { "performance.avg_request_latency_ms", "mean_e2e_ms" },
    STATISTICS("performance.request_latency_percentiles_ms", "e2e_ms"),
    { "streaming_metrics.token_output_speed_tok_s", "tok_per_s_per_user" },
    STATISTICS("streaming_metrics.tpot_percentiles", "tpot_ms"),
    STATISTICS("streaming_metrics.ttft_percentiles", "ttft_ms"),
    { "*", "" },
    { NULL, NULL },
};

bool import_read_trtllm_bench(const struct import_file *file, struct evidence *out,
                              struct error *error)
{
    if (!import_table_read_rows(file, aliases, "name", out, error))
        return false;
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "trtllm-bench");
    text_copy(out->facts.engine, sizeof out->facts.engine, "tensorrt-llm");
    evidence_remark(out, "trtllm-bench measures the engine itself, without a server, and does not "
                         "report which requests failed");
    return true;
}
