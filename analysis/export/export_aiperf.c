/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one line of JSON per cell, in the form of aiperf's profile_export_aiperf.json: an object
 * with a member for each metric. Cells for which export_takes is false are omitted. */
#include <math.h>

#include "analysis/export/export_private.h"
#include "base/json/json.h"

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

/* ---- What was requested ---- */

/* If a file has settings, aiperf requires them to have a URL and a model's name. */
#define UNKNOWN_URL "http://unknown.invalid"
#define UNKNOWN_MODEL "(unknown)"

static const char *phase_type(const struct evidence *evidence, const struct evidence_cell *cell)
{
    const json_t *workload = json_object_get(evidence->fingerprint, "workload");

    return isnan(cell->request_rate_asked) ? "concurrency"
                                           : json_get_text(workload, "arrival", "constant");
}

/* Adds the condition that ends the phase: the number of requests planned, else the duration, else
 * the number of requests sent. Returns false if none of the three is known. */
static bool add_end(json_t *phase, const struct evidence_cell *cell)
{
    if (cell->requests_asked >= 1)
        export_number(phase, "requests", cell->requests_asked);
    else if (cell->duration_s > 0)
        export_number(phase, "duration", cell->duration_s);
    else if (cell->attempted >= 1)
        export_number(phase, "requests", cell->attempted);
    return json_object_size(phase) > 3;
}

/* The load and the end of the phase that aiperf measures. NULL: too little is known, because a
 * phase needs an end, and an integer number of users or, if their number is unknown, a rate. */
static json_t *phase_json(const struct evidence *evidence, const struct evidence_cell *cell)
{
    bool is_whole = cell->concurrency >= 1 && cell->concurrency == floor(cell->concurrency);
    bool has_rate = cell->request_rate_asked > 0;
    json_t *phase = json_pack("{s:s, s:s, s:s}", "name", "profiling", "kind", "profiling", "type",
                              phase_type(evidence, cell));

    if (!(is_whole || (has_rate && isnan(cell->concurrency))) || !add_end(phase, cell)) {
        json_decref(phase);
        return NULL;
    }
    export_number(phase, "concurrency", cell->concurrency);
    export_number(phase, "rate", cell->request_rate_asked);
    return phase;
}

static json_t *prompts_json(const struct evidence *evidence, const struct evidence_cell *cell)
{
    json_t *input = json_object(), *output = json_object(), *prompts = json_object();

    if (evidence->input_unit == LENGTH_TOKENS)
        export_number(input, "mean", cell->input_length);
    export_number(output, "mean", cell->output_tokens_asked);
    if (json_object_size(input) > 0)
        json_object_set(prompts, "isl", input);
    if (json_object_size(output) > 0)
        json_object_set(prompts, "osl", output);
    json_decref(input);
    json_decref(output);
    return prompts;
}

/* The settings of a cell for which phase_json returned NULL, in the form that aiperf uses for the
 * runs of a sweep. */
static json_t *values_json(const struct evidence *evidence, const struct evidence_cell *cell)
{
    json_t *values = json_object();

    export_number(values, "phases.profiling.concurrency", cell->concurrency);
    export_number(values, "phases.profiling.rate", cell->request_rate_asked);
    export_number(values, "phases.profiling.requests", cell->requests_asked);
    export_number(values, "endpoint.timeout", cell->timeout_s);
    if (evidence->input_unit == LENGTH_TOKENS)
        export_number(values, "isl", cell->input_length);
    export_number(values, "osl", cell->output_tokens_asked);
    return json_pack("{s:o}", "variation_values", values);
}

static json_t *config_json(const struct evidence *evidence, const struct evidence_cell *cell,
                           json_t *phase)
{
    const char *model = evidence->facts.model[0] != '\0' ? evidence->facts.model : UNKNOWN_MODEL;
    json_t *endpoint = json_pack("{s:[s]}", "urls", UNKNOWN_URL);

    export_number(endpoint, "timeout", cell->timeout_s);
    return json_pack("{s:{s:[{s:s}]}, s:o, s:[{s:s, s:s, s:o}], s:[o]}", "models", "items", "name",
                     model, "endpoint", endpoint, "datasets", "name", "main", "type", "synthetic",
                     "prompts", prompts_json(evidence, cell), "phases", phase);
}

static void add_settings(json_t *json, const struct evidence *evidence,
                         const struct evidence_cell *cell)
{
    json_t *phase = phase_json(evidence, cell);

    if (phase != NULL)
        json_object_set_new(json, "input_config", config_json(evidence, cell, phase));
    else
        json_object_set_new(json, "run_info", values_json(evidence, cell));
}

/* ---- Results ---- */

static void add_concurrency(json_t *json, const struct evidence_cell *cell)
{
    json_t *block = json_pack("{s:s}", "unit", "requests");

    export_number(block, "avg", cell->concurrency_actual);
    export_number(block, "max", cell->concurrency_max);
    if (json_object_size(block) > 1)
        json_object_set(json, "effective_concurrency", block);
    json_decref(block);
}

static void add_figures(json_t *json, const struct evidence_cell *cell)
{
    add_value(json, "request_count", "requests", cell->succeeded);
    add_value(json, "error_request_count", "requests", cell->failed);
    add_value(json, "benchmark_duration", "sec", cell->duration_s);
    add_value(json, "request_throughput", "requests/sec", cell->request_throughput);
    add_value(json, "goodput", "requests/sec", cell->goodput);
    add_value(json, "input_token_throughput", "tokens/sec", cell->input_throughput);
    add_value(json, "output_token_throughput", "tokens/sec", cell->output_throughput);
    add_value(json, "total_token_throughput", "tokens/sec", cell->total_throughput);
    add_value(json, "output_token_throughput_per_user", "tokens/sec/user", cell->stream_throughput);
    add_value(json, "input_sequence_length", "tokens", cell->input_tokens_mean);
    add_value(json, "output_sequence_length", "tokens", cell->output_tokens_mean);
    add_value(json, "total_isl", "tokens", cell->input_tokens);
    add_value(json, "total_osl", "tokens", cell->output_tokens);
    add_concurrency(json, cell);
}

static void add_latencies(json_t *json, const struct evidence_cell *cell)
{
    add_latency(json, "time_to_first_token", export_sent(cell, METRIC_TTFT, METRIC_TTFT_SENT));
    add_latency(json, "request_latency", export_sent(cell, METRIC_E2E, METRIC_E2E_SENT));
    add_latency(json, "inter_token_latency", &cell->latency[METRIC_TPOT]);
    add_latency(json, "inter_chunk_latency", &cell->latency[METRIC_ICL]);
    add_latency(json, "time_to_second_token", &cell->latency[METRIC_TTST]);
    /* TTFO is omitted for open loops (only they have queue times): we count it from the scheduled
     * time, aiperf from sending */
    if (isnan(cell->latency[METRIC_QUEUE].count))
        add_latency(json, "time_to_first_output_token", &cell->latency[METRIC_TTFO]);
}

static void write_cell(const struct evidence *evidence, const struct evidence_cell *cell,
                       struct text *out)
{
    json_auto_t *json =
        json_pack("{s:s, s:s}", "schema_version", "1.4", "benchmark_id", evidence->id);
    char time[EXPORT_TIME_SIZE];

    export_text(json, "start_time", export_time(evidence, cell, time));
    add_settings(json, evidence, cell);
    add_latencies(json, cell);
    add_figures(json, cell);
    if (cell->error != NULL && cell->failed > 0)
        json_object_set_new(json, "error_summary",
                            json_pack("[{s:{s:s}, s:I}]", "error_details", "message", cell->error,
                                      "count", (json_int_t)cell->failed));
    export_own_members(json, "aiperf", evidence, cell);
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
