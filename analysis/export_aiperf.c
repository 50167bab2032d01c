/* aiperf's profile_export_aiperf.json: a block per metric. */
#include <math.h>

#include "analysis/export_private.h"
#include "base/clock.h"

static void add_value(json_t *json, const char *tag, const char *unit, double value)
{
    if (isfinite(value)) {
        json_t *block = json_pack("{s:s}", "unit", unit);

        export_number(block, "avg", value);
        json_object_set_new(json, tag, block);
    }
}

static void add_latency(json_t *json, const char *tag, const struct evidence_latency *latency)
{
    const struct evidence_latency known = export_latency(latency);
    json_t *block = json_pack("{s:s}", "unit", "ms");

    export_number(block, "avg", known.mean_ms);
    export_number(block, "min", known.min_ms);
    export_number(block, "max", known.max_ms);
    export_number(block, "p50", known.p50_ms);
    export_number(block, "p90", known.p90_ms);
    export_number(block, "p95", known.p95_ms);
    export_number(block, "p99", known.p99_ms);
    export_number(block, "std", known.deviation_ms);
    if (json_object_size(block) > 1) {
        export_number(block, "count", known.count);
        json_object_set_new(json, tag, block);
    } else {
        json_decref(block);
    }
}

static json_t *input_config(const struct evidence *evidence, const struct evidence_cell *cell)
{
    json_t *loadgen = json_object(), *endpoint = json_object();
    json_t *input = json_object(), *output = json_object();

    export_number(loadgen, "concurrency", cell->concurrency);
    export_number(loadgen, "request_rate", cell->request_rate_asked);
    export_number(loadgen, "request_count", cell->requests_asked);
    if (evidence->facts.model[0] != '\0')
        json_object_set_new(endpoint, "model_names", json_pack("[s]", evidence->facts.model));
    export_number(endpoint, "timeout_seconds", cell->timeout_s);
    if (evidence->input_unit == LENGTH_TOKENS)
        export_number(input, "mean", cell->input_length);
    export_number(output, "mean", cell->output_tokens_asked);
    return json_pack("{s:o, s:o, s:{s:{s:o, s:o}}}", "endpoint", endpoint, "loadgen", loadgen,
                     "input", "prompt", "input_tokens", input, "output_tokens", output);
}

static void add_figures(json_t *json, const struct evidence_cell *cell)
{
    add_value(json, "request_count", "requests", cell->succeeded);
    add_value(json, "error_request_count", "requests", cell->failed);
    add_value(json, "benchmark_duration", "sec", cell->duration_s);
    add_value(json, "request_throughput", "requests/sec", cell->request_throughput);
    add_value(json, "goodput", "requests/sec", cell->goodput);
    add_value(json, "output_token_throughput", "tokens/sec", cell->output_throughput);
    add_value(json, "total_token_throughput", "tokens/sec", cell->total_throughput);
    add_value(json, "output_token_throughput_per_user", "tokens/sec/user", cell->stream_throughput);
    add_value(json, "input_sequence_length", "tokens", cell->input_tokens_mean);
    add_value(json, "output_sequence_length", "tokens", cell->output_tokens_mean);
    add_value(json, "effective_concurrency", "requests", cell->concurrency_actual);
}

static void write_cell(const struct evidence *evidence, const struct evidence_cell *cell,
                       struct text *out)
{
    json_auto_t *json =
        json_pack("{s:s, s:s}", "schema_version", "1.5", "benchmark_id", evidence->id);
    char time[CLOCK_TEXT_SIZE];

    export_text(json, "start_time",
                cell->time[0] != '\0' ? cell->time : clock_format_utc(evidence->created_ms, time));
    json_object_set_new(json, "input_config", input_config(evidence, cell));
    add_latency(json, "time_to_first_token", export_sent(cell, METRIC_TTFT, METRIC_TTFT_SENT));
    add_latency(json, "request_latency", export_sent(cell, METRIC_E2E, METRIC_E2E_SENT));
    add_latency(json, "inter_token_latency", &cell->latency[METRIC_TPOT]);
    add_latency(json, "inter_chunk_latency", &cell->latency[METRIC_ICL]);
    add_latency(json, "time_to_second_token", &cell->latency[METRIC_TTST]);
    if (isnan(cell->latency[METRIC_QUEUE].count)) /* else it counts from the schedule */
        add_latency(json, "time_to_first_output_token", &cell->latency[METRIC_TTFO]);
    add_figures(json, cell);
    if (cell->error != NULL && cell->failed > 0)
        json_object_set_new(json, "error_summary",
                            json_pack("[{s:{s:s}, s:f}]", "error_details", "message", cell->error,
                                      "count", cell->failed));
    export_line(json, out);
}

void export_write_aiperf(const struct evidence *evidence, size_t first, size_t count,
                         struct text *out)
{
    const struct exporter *exporter = exporter_find("aiperf");

    for (size_t i = first; i < first + count; i++)
        if (export_takes(exporter, &evidence->cells[i]))
            write_cell(evidence, &evidence->cells[i], out);
}
