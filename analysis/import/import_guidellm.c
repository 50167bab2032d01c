/* SPDX-License-Identifier: Apache-2.0 */
/* Reads GuideLLM's benchmarks.json. Its ITL is what we and vLLM call TPOT. Its TPOT includes the
 * TTFT; it is not read, because we have no such metric. GuideLLM does not report gaps between
 * chunks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"

struct benchmark {
    struct evidence_cell cell;
    char strategy[32], model[160];
    double streams, strategy_concurrency, rate;
    double start_s, end_s, measure_start_s, measure_end_s;
    double total, successful, incomplete, errored;
    /* Distributions over the successful requests, of which only the means are used. in_flight,
     * however, is a distribution over all requests, and its maximum is used, too. */
    struct evidence_latency requests_rate, in_flight, input_rate, output_rate, total_rate;
    struct evidence_latency input, output;
    double input_sum, output_sum;
};

#define NUMBER(name, member) MEMBER_NUMBER_AT(name, benchmark, member, 1)
/* A metric has one distribution for each outcome of requests, and one for all requests. Only the
 * distribution for successful requests is read; for the number in flight, that for all requests is
 * read instead. The table `milliseconds` does not scale the values, and is therefore also used for
 * counts and rates. */
#define SUCCESSFUL(table, inner)                                                                   \
    static const struct import_member table[] = { MEMBER_INSIDE("successful", 0, inner), { 0 } }
SUCCESSFUL(milliseconds, latency_ms_members);
SUCCESSFUL(seconds, latency_s_members);

static const struct import_member in_flight[] = {
    MEMBER_INSIDE("total", 0, latency_ms_members),
    { 0 },
};
static const struct import_member sum_input[] = { NUMBER("total_sum", input_sum), { 0 } };
static const struct import_member sum_output[] = { NUMBER("total_sum", output_sum), { 0 } };

/* Reads the value twice: for the sum and for the mean. */
static bool read_twice(struct json_scan *scan, struct benchmark *benchmark,
                       const struct import_member *sums, struct evidence_latency *means)
{
    const struct import_member outer[] = { MEMBER_INSIDE("successful", 0, sums), { 0 } };
    struct json_scan again = *scan;

    return import_object(&again, outer, benchmark, NULL)
           && import_object(scan, milliseconds, means, NULL);
}

static bool read_input(struct json_scan *scan, void *base)
{
    return read_twice(scan, base, sum_input, &((struct benchmark *)base)->input);
}

static bool read_output(struct json_scan *scan, void *base)
{
    return read_twice(scan, base, sum_output, &((struct benchmark *)base)->output);
}

#define INTO(name, member, table) MEMBER_INSIDE(name, offsetof(struct benchmark, member), table)
static const struct import_member requests_made[] = {
    NUMBER("successful", successful),
    NUMBER("incomplete", incomplete),
    NUMBER("errored", errored),
    NUMBER("total", total),
    { 0 },
};
static const struct import_member metrics[] = {
    MEMBER_INSIDE("request_totals", 0, requests_made),
    INTO("requests_per_second", requests_rate, milliseconds),
    INTO("request_concurrency", in_flight, in_flight),
    INTO("request_latency", cell.latency[METRIC_E2E], seconds),
    INTO("time_to_first_token_ms", cell.latency[METRIC_TTFT], milliseconds),
    INTO("inter_token_latency_ms", cell.latency[METRIC_TPOT], milliseconds),
    MEMBER_BY("prompt_token_count", read_input),
    MEMBER_BY("output_token_count", read_output),
    INTO("prompt_tokens_per_second", input_rate, milliseconds),
    INTO("output_tokens_per_second", output_rate, milliseconds),
    INTO("tokens_per_second", total_rate, milliseconds),
    { 0 },
};
static const struct import_member strategy[] = {
    MEMBER_TEXT_AT("type_", benchmark, strategy),
    NUMBER("streams", streams),
    NUMBER("max_concurrency", strategy_concurrency),
    NUMBER("rate", rate),
    { 0 },
};
static const struct import_member backend[] = {
    MEMBER_TEXT_AT("model", benchmark, model),
    { 0 },
};
static const struct import_member config[] = {
    MEMBER_INSIDE("strategy", 0, strategy),
    MEMBER_INSIDE("backend", 0, backend),
    { 0 },
};
static const struct import_member scheduler[] = {
    NUMBER("start_time", start_s),
    NUMBER("end_time", end_s),
    NUMBER("measure_start_time", measure_start_s),
    NUMBER("measure_end_time", measure_end_s),
    MEMBER_INSIDE("requests_made", 0, requests_made),
    { 0 },
};
/* The statistics in files from versions before 0.4. */
static const struct import_member run_stats[] = {
    NUMBER("start_time", start_s),
    NUMBER("end_time", end_s),
    NUMBER("total_successful", successful),
    NUMBER("total_incomplete", incomplete),
    NUMBER("total_errored", errored),
    MEMBER_INSIDE("requests_made", 0, requests_made),
    { 0 },
};
static const struct import_member worker[] = {
    MEMBER_TEXT_AT("backend_model", benchmark, model),
    { 0 },
};
static const struct import_member benchmark_members[] = {
    MEMBER_INSIDE("run_stats", 0, run_stats),
    MEMBER_INSIDE("worker", 0, worker),
    MEMBER_INSIDE("request_totals", 0, requests_made),
    MEMBER_INSIDE("config", 0, config),
    MEMBER_INSIDE("args", 0, config), /* in older versions */
    MEMBER_INSIDE("benchmarker", 0, backend),
    MEMBER_INSIDE("scheduler_metrics", 0, scheduler),
    MEMBER_INSIDE("metrics", 0, metrics),
    MEMBER_NUMBER_AT("duration", benchmark, cell.duration_s, 1),
    { 0 },
};

static void set_unknown(struct benchmark *benchmark)
{
    struct evidence_latency *unknown = &benchmark->cell.latency[METRIC_ITL];

    *benchmark = (struct benchmark){ 0 };
    evidence_cell_read(NULL, &benchmark->cell);
    benchmark->requests_rate = benchmark->in_flight = benchmark->input_rate = *unknown;
    benchmark->output_rate = benchmark->total_rate = *unknown;
    benchmark->input = benchmark->output = *unknown;
    benchmark->streams = benchmark->strategy_concurrency = benchmark->rate = NAN;
    benchmark->start_s = benchmark->end_s = NAN;
    benchmark->measure_start_s = benchmark->measure_end_s = NAN;
    benchmark->total = benchmark->successful = benchmark->incomplete = benchmark->errored = NAN;
    benchmark->input_sum = benchmark->output_sum = NAN;
}

static double requested_concurrency(const struct benchmark *benchmark)
{
    if (strcmp(benchmark->strategy, "synchronous") == 0)
        return 1;
    if (strcmp(benchmark->strategy, "concurrent") == 0 && !isnan(benchmark->streams))
        return benchmark->streams;
    /* if there is a rate, max_concurrency is only a limit, not the requested load */
    return isnan(benchmark->rate) ? benchmark->strategy_concurrency : NAN;
}

static void fill(const struct benchmark *from, struct evidence_cell *cell)
{
    double measured_s = from->measure_end_s - from->measure_start_s;

    cell->concurrency = requested_concurrency(from);
    cell->request_rate_asked = from->rate;
    cell->succeeded = from->successful;
    cell->failed = from->errored;
    cell->request_throughput = from->requests_rate.mean_ms;
    cell->concurrency_actual = from->in_flight.mean_ms;
    cell->concurrency_max = from->in_flight.max_ms;
    cell->input_throughput = from->input_rate.mean_ms;
    cell->output_throughput = from->output_rate.mean_ms;
    cell->total_throughput = from->total_rate.mean_ms;
    cell->input_tokens_mean = from->input.mean_ms;
    cell->output_tokens_mean = from->output.mean_ms;
    cell->input_tokens = from->input_sum;
    cell->output_tokens = from->output_sum;
    if (isnan(cell->duration_s))
        cell->duration_s = isnan(measured_s) ? from->end_s - from->start_s : measured_s;
}

struct reading {
    struct evidence *out;
    struct error *error;
    bool refused;
    size_t data_sources;
    /* per request, as asked for in the options for synthetic data; NaN: not known */
    double prompt_tokens, output_tokens;
};

/* ---- What was requested ---- */

/* Finds a value in the option --data, which older versions store as it was given:
 * "prompt_tokens=256,output_tokens=64". `name` includes the '='. NaN: not found. */
static double find_option(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    double value = at == NULL ? NAN : strtod(at + strlen(name), NULL);

    return value > 0 && isfinite(value) ? value : NAN;
}

static bool read_source(struct json_scan *scan, void *context)
{
    static const struct import_member source[] = {
        MEMBER_NUMBER_AT("prompt_tokens", reading, prompt_tokens, 1),
        MEMBER_NUMBER_AT("output_tokens", reading, output_tokens, 1),
        { 0 },
    };
    struct reading *reading = context;
    struct json_scan again = *scan;
    char text[1024];

    reading->data_sources++;
    if (json_scan_next(scan) != JSON_SCAN_STRING) {
        *scan = again;
        return import_object(scan, source, reading, NULL);
    }
    if (json_scan_copy(scan, text, sizeof text)) {
        reading->prompt_tokens = find_option(text, "prompt_tokens=");
        reading->output_tokens = find_option(text, "output_tokens=");
    }
    return true;
}

/* Reads one data source, or a list of them. */
static bool read_data(struct json_scan *scan, void *base)
{
    struct json_scan again = *scan;
    enum json_scan_token token = json_scan_next(&again);

    return token == JSON_SCAN_ARRAY ? import_array(scan, read_source, base)
                                    : read_source(scan, base);
}

static void fill_requested(const struct reading *reading)
{
    for (size_t i = 0; reading->data_sources == 1 && i < reading->out->cell_count; i++) {
        reading->out->cells[i].input_length = reading->prompt_tokens;
        reading->out->cells[i].output_tokens_asked = reading->output_tokens;
    }
}

/* ---- Benchmarks ---- */

static void note_incomplete(const struct benchmark *benchmark, struct evidence *out)
{
    if (benchmark->incomplete > 0)
        evidence_remark(out,
                        "benchmark %zu: requests cut off at its end, counted neither as successes "
                        "nor as failures: %.0f",
                        out->cell_count, benchmark->incomplete);
}

static bool read_benchmark(struct json_scan *scan, void *context)
{
    struct reading *reading = context;
    struct benchmark benchmark;
    struct evidence_cell *cell;
    int64_t position;

    set_unknown(&benchmark);
    if (!import_object(scan, benchmark_members, &benchmark, NULL))
        return false;
    if (!import_cell(reading->out, &cell, reading->error)) {
        reading->refused = true;
        return false;
    }
    position = cell->position;
    *cell = benchmark.cell;
    cell->position = position;
    cell->row = position + 1;
    fill(&benchmark, cell);
    import_complete_cell(cell);
    note_incomplete(&benchmark, reading->out);
    if (benchmark.model[0] != '\0')
        text_copy(reading->out->facts.model, sizeof reading->out->facts.model, benchmark.model);
    return true;
}

static bool read_benchmarks(struct json_scan *scan, void *base)
{
    return import_array(scan, read_benchmark, base);
}

bool import_read_guidellm(const struct import_file *file, struct evidence *out, struct error *error)
{
    static const struct import_member data[] = { MEMBER_BY("data", read_data), { 0 } };
    static const struct import_member whole[] = { MEMBER_INSIDE("spec", 0, data), { 0 } };
    static const struct import_member top[] = {
        MEMBER_INSIDE("config", 0, whole),
        MEMBER_INSIDE("args", 0, data), /* before 0.8 */
        MEMBER_BY("benchmarks", read_benchmarks),
        { 0 },
    };
    struct reading reading = {
        .out = out, .error = error, .prompt_tokens = NAN, .output_tokens = NAN
    };
    struct json_scan scan;

    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "guidellm");
    import_scan_init(&scan, file->bytes, file->length);
    if (import_object(&scan, top, &reading, NULL) && json_scan_next(&scan) == JSON_SCAN_DONE) {
        fill_requested(&reading);
        return true;
    }
    return reading.refused ? false : json_scan_fail(&scan, error);
}
