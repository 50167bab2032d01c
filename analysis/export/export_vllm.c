/* SPDX-License-Identifier: Apache-2.0 */
/* Writes results in the format of vLLM's `bench serve --save-result`. vLLM defines its metrics as
 * we do, with two exceptions: its ITL is the gap between chunks, which we call ICL; and its TTFT
 * and E2EL are counted from sending, even in an open loop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/export/export_private.h"
#include "base/json/json.h"

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

/* vLLM describes a closed loop, in which users send their next request once the previous one has
 * been answered, as an infinite rate limited by max_concurrency. For an import, it is not known
 * whether the load was a closed loop. */
static void add_load(json_t *json, const struct evidence *evidence,
                     const struct evidence_cell *cell)
{
    bool is_ours = !evidence->imported;

    export_number(json, "num_prompts", is_ours ? cell->attempted : cell->requests_asked);
    if (is_ours && isnan(cell->request_rate_asked))
        json_object_set_new(json, "request_rate", json_string("inf"));
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

/* For an import, adds the time that the file states for the cell, unchanged. For our own run, adds
 * the time when the run was created, in vLLM's form: 20260314-190304. */
static void add_date(json_t *json, const struct evidence *evidence,
                     const struct evidence_cell *cell)
{
    char time[EXPORT_TIME_SIZE], date[20];
    const char *iso = export_time(evidence, cell, time);

    if (cell->time[0] != '\0' || iso[0] == '\0') {
        export_text(json, "date", cell->time);
        return;
    }
    snprintf(date, sizeof date, "%.4s%.2s%.2s-%.2s%.2s%.2s", iso, iso + 5, iso + 8, iso + 11,
             iso + 14, iso + 17);
    export_text(json, "date", date);
}

static void add_latencies(json_t *json, const struct evidence_cell *cell)
{
    add_latency(json, "ttft", export_sent(cell, METRIC_TTFT, METRIC_TTFT_SENT));
    add_latency(json, "tpot", &cell->latency[METRIC_TPOT]);
    add_latency(json, "itl", &cell->latency[METRIC_ICL]);
    add_latency(json, "e2el", export_sent(cell, METRIC_E2E, METRIC_E2E_SENT));
    if (isnan(cell->latency[METRIC_QUEUE].count))
        return;
    add_latency(json, "client_queue_time", &cell->latency[METRIC_QUEUE]);
    add_latency(json, "e2el_including_client_queue", &cell->latency[METRIC_E2E]);
}

static json_t *cell_json(const struct evidence *evidence, const struct evidence_cell *cell)
{
    json_t *json = json_object();

    add_date(json, evidence, cell);
    export_text(json, "label", evidence->id);
    export_text(json, "model_id", evidence->facts.model);
    export_text(json, "dataset_name", evidence->facts.dataset);
    add_load(json, evidence, cell);
    if (evidence->input_unit == LENGTH_TOKENS)
        export_number(json, "random_input_len", cell->input_length);
    export_number(json, "random_output_len", cell->output_tokens_asked);
    add_figures(json, cell);
    add_latencies(json, cell);
    if (cell->error != NULL)
        json_object_set_new(json, "errors", json_pack("[s]", cell->error));
    export_own_members(json, "vllm", evidence, cell);
    return json;
}

void export_write_vllm(const struct evidence *evidence, size_t first, size_t count,
                       struct text *out)
{
    const struct exporter *exporter = exporter_find("vllm");
    size_t written = 0;

    text_add(out, "[");
    for (size_t i = first; i < first + count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];
        json_auto_t *json = export_takes(exporter, cell) ? cell_json(evidence, cell) : NULL;

        if (json == NULL)
            continue;
        text_add(out, written++ > 0 ? ",\n" : "\n");
        json_add(out, json);
    }
    text_add(out, "\n]\n");
}
