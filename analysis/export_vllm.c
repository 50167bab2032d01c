/* vLLM `bench serve --save-result`: its metrics are defined as ours are, but that its ITL is the
 * gap between chunks, our ICL. */
#include <math.h>
#include <stdio.h>

#include "analysis/export_private.h"
#include "base/clock.h"

static void add_statistic(json_t *json, const char *statistic, const char *metric, double value)
{
    char name[48];

    snprintf(name, sizeof name, "%s_%s_ms", statistic, metric);
    export_number(json, name, value);
}

static void add_latency(json_t *json, const char *metric, const struct evidence_latency *latency)
{
    const struct evidence_latency known = export_latency(latency);

    add_statistic(json, "mean", metric, known.mean_ms);
    add_statistic(json, "median", metric, known.p50_ms);
    add_statistic(json, "std", metric, known.deviation_ms);
    add_statistic(json, "p90", metric, known.p90_ms);
    add_statistic(json, "p95", metric, known.p95_ms);
    add_statistic(json, "p99", metric, known.p99_ms);
}

static void add_load(json_t *json, const struct evidence_cell *cell)
{
    export_number(json, "num_prompts",
                  isnan(cell->requests_asked) ? cell->attempted : cell->requests_asked);
    if (isnan(cell->request_rate_asked)) {
        json_object_set_new(json, "request_rate", json_string("inf"));
        json_object_set_new(json, "burstiness", json_real(1));
    }
    export_number(json, "request_rate", cell->request_rate_asked);
    export_number(json, "max_concurrency", cell->concurrency);
}

static void add_figures(json_t *json, const struct evidence_cell *cell)
{
    export_number(json, "duration", cell->duration_s);
    export_number(json, "completed", cell->succeeded);
    export_number(json, "failed", cell->failed);
    export_number(json, "total_input_tokens", cell->input_tokens);
    export_number(json, "total_output_tokens", cell->output_tokens);
    export_number(json, "request_throughput", cell->request_throughput);
    export_number(json, "request_goodput", cell->goodput);
    export_number(json, "output_throughput", cell->output_throughput);
    export_number(json, "total_token_throughput", cell->total_throughput);
    export_number(json, "max_concurrent_requests", cell->concurrency_max);
}

static void write_cell(const struct evidence *evidence, const struct evidence_cell *cell,
                       struct text *out)
{
    json_auto_t *json = json_object();
    char time[CLOCK_TEXT_SIZE];

    export_text(json, "date",
                cell->time[0] != '\0' ? cell->time : clock_format_utc(evidence->created_ms, time));
    export_text(json, "endpoint_type", "openai");
    export_text(json, "backend", "openai");
    export_text(json, "label", evidence->id);
    export_text(json, "model_id", evidence->facts.model);
    export_text(json, "tokenizer_id", evidence->facts.model);
    add_load(json, cell);
    if (evidence->input_unit == LENGTH_TOKENS)
        export_number(json, "random_input_len", cell->input_length);
    export_number(json, "random_output_len", cell->output_tokens_asked);
    add_figures(json, cell);
    add_latency(json, "ttft", export_sent(cell, METRIC_TTFT, METRIC_TTFT_SENT));
    add_latency(json, "tpot", &cell->latency[METRIC_TPOT]);
    add_latency(json, "itl", &cell->latency[METRIC_ICL]);
    add_latency(json, "e2el", export_sent(cell, METRIC_E2E, METRIC_E2E_SENT));
    if (!isnan(cell->latency[METRIC_QUEUE].count)) {
        add_latency(json, "client_queue_time", &cell->latency[METRIC_QUEUE]);
        add_latency(json, "e2el_including_client_queue", &cell->latency[METRIC_E2E]);
    }
    if (cell->error != NULL)
        json_object_set_new(json, "errors", json_pack("[s]", cell->error));
    export_line(json, out);
}

void export_write_vllm(const struct evidence *evidence, size_t first, size_t count,
                       struct text *out)
{
    const struct exporter *exporter = exporter_find("vllm");

    for (size_t i = first; i < first + count; i++)
        if (export_takes(exporter, &evidence->cells[i]))
            write_cell(evidence, &evidence->cells[i], out);
}
