/* SPDX-License-Identifier: Apache-2.0 */
/* Writes serving reports of schema 1.1. They contain all cells, even those not measured. */
#include <math.h>

#include "analysis/export/export_private.h"
#include "base/core/clock.h"
#include "base/core/memory.h"

static const char *status_of(const struct evidence_cell *cell)
{
    static const char *const names[EVIDENCE_STATES] = {
        [EVIDENCE_UNKNOWN] = "",        [EVIDENCE_MEASURED] = "ok",
        [EVIDENCE_FAILED] = "failed",   [EVIDENCE_INFEASIBLE] = "infeasible",
        [EVIDENCE_SKIPPED] = "skipped",
    };

    return names[cell->state];
}

static void add_latency(json_t *json, const char *name, const struct evidence_latency *latency)
{
    const struct evidence_latency known = export_latency(latency);
    json_t *block = json_object();

    export_number(block, "count", known.count);
    export_number(block, "mean", known.mean_ms);
    export_number(block, "std", known.deviation_ms);
    export_number(block, "min", known.min_ms);
    export_number(block, "median", known.p50_ms);
    export_number(block, "p90", known.p90_ms);
    export_number(block, "p95", known.p95_ms);
    export_number(block, "p99", known.p99_ms);
    export_number(block, "max", known.max_ms);
    if (json_object_size(block) > 0)
        json_object_set_new(json, name, block);
    else
        json_decref(block);
}

static void add_speed(json_t *json, const struct evidence_cell *cell)
{
    export_number(json, "request_rate_rps", cell->request_throughput);
    export_number(json, "output_tok_per_s", cell->output_throughput);
    export_number(json, "total_tok_per_s", cell->total_throughput);
    export_number(json, "per_stream_tok_per_s", cell->stream_throughput);
    add_latency(json, "ttft_ms", export_sent(cell, METRIC_TTFT, METRIC_TTFT_SENT));
    add_latency(json, "tpot_ms", &cell->latency[METRIC_TPOT]);
    add_latency(json, "itl_ms", &cell->latency[METRIC_ICL]);
    add_latency(json, "e2el_ms", export_sent(cell, METRIC_E2E, METRIC_E2E_SENT));
}

static json_t *cell_json(const struct evidence *evidence, const struct evidence_cell *cell)
{
    json_t *json = json_object();

    export_number(json, "concurrency", cell->concurrency);
    if (evidence->input_unit == LENGTH_TOKENS)
        export_number(json, "input_len", cell->input_length);
    export_number(json, "output_len", cell->output_tokens_asked);
    export_number(json, "num_prompts", cell->requests_asked);
    export_text(json, "status", status_of(cell));
    export_text(json, "error", cell->error);
    export_number(json, "completed", cell->succeeded);
    export_number(json, "failed", cell->failed);
    export_number(json, "duration_s", cell->duration_s);
    /* the speed of failed, infeasible and skipped cells is omitted, even if a file states it */
    if (cell->state == EVIDENCE_MEASURED || cell->state == EVIDENCE_UNKNOWN)
        add_speed(json, cell);
    export_own_members(json, "serving-report", evidence, cell);
    return json;
}

static json_t *run_json(const struct evidence *evidence)
{
    json_t *json = json_object();
    char time[CLOCK_TEXT_SIZE] = "";

    export_text(json, "id", evidence->id);
    if (!evidence->imported) /* for an import, created_ms is the time of the import */
        clock_format_utc(evidence->created_ms, time);
    time[10] = '\0'; /* keeps only the date */
    export_text(json, "date", evidence->facts.date[0] != '\0' ? evidence->facts.date : time);
    export_text(json, "source", evidence->name);
    export_text(json, "notes", evidence->notes);
    return json;
}

static json_t *hardware_json(const struct evidence_facts *facts)
{
    json_t *json = json_object(), *host = json_object();

    export_text(json, "accelerator", facts->hardware);
    export_number(json, "chips", facts->chips);
    export_number(json, "hbm_gb_per_chip", facts->memory_gb_per_chip);
    export_text(host, "cloud", facts->provider);
    export_text(host, "zone", facts->region);
    if (json_object_size(host) > 0)
        json_object_set(json, "host", host);
    json_decref(host);
    if (!isnan(facts->price_usd_per_chip_hour))
        json_object_set_new(json, "pricing",
                            json_pack("{s:s, s:f}", "currency", "USD", "rate_per_chip_hour",
                                      facts->price_usd_per_chip_hour));
    return json;
}

static json_t *model_json(const struct evidence_facts *facts)
{
    json_t *json = json_object();

    export_text(json, "id", facts->model);
    export_text(json, "revision", facts->model_revision);
    export_text(json, "weights_dtype", facts->weights_type);
    export_text(json, "quantization", facts->quantization);
    export_text(json, "kv_cache_dtype", facts->cache_type);
    export_number(json, "max_model_len", facts->context_limit_tokens);
    return json;
}

static json_t *software_json(const struct evidence_facts *facts)
{
    json_t *json = json_object();

    export_text(json, "engine", facts->engine);
    export_text(json, "version", facts->engine_version);
    export_number(json, "tensor_parallel_size", facts->tensor_parallel);
    if (facts->flags[0] != '\0')
        json_object_set_new(json, "serve_args", json_pack("[s]", facts->flags));
    return json;
}

static json_t *throughput_json(const struct evidence *evidence, size_t first, size_t count)
{
    json_t *workload = json_object(), *sweep = json_array();

    export_text(workload, "tool", evidence->facts.tool);
    export_text(workload, "dataset", evidence->facts.dataset);
    export_number(workload, "runs_per_point", evidence->facts.repetitions);
    for (size_t i = first; i < first + count; i++)
        json_array_append_new(sweep, cell_json(evidence, &evidence->cells[i]));
    return json_pack("{s:o, s:o}", "workload", workload, "sweep", sweep);
}

void export_write_serving_report(const struct evidence *evidence, size_t first, size_t count,
                                 struct text *out)
{
    const struct evidence_facts *facts = &evidence->facts;
    json_auto_t *json = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema_version", "1.1", "run",
                                  run_json(evidence), "hardware", hardware_json(facts), "model",
                                  model_json(facts), "software", software_json(facts), "throughput",
                                  throughput_json(evidence, first, count));
    FREE_AUTO char *written = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15));

    text_add(out, written);
    text_add_char(out, '\n');
}
