/* SPDX-License-Identifier: Apache-2.0 */
/* Reads aiperf's profile_export_aiperf.json, which has a block (an object with a unit and
 * statistics) for each metric. Also reads profile_export_aiperf_sweep.json, which has such blocks
 * for each combination of parameters.
 * aiperf's inter_token_latency is what we and vLLM call TPOT; its inter_chunk_latency is the gap
 * between chunks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/import/import_aiperf.h"
#include "analysis/import/import_formats.h"
#include "base/core/memory.h"

struct error_row {
    double count;
    char type[96], message[480];
};

double import_aiperf_ms(const char *unit)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = { { "ns", 1e-6 }, { "us", 1e-3 },     { "ms", 1 }, { "s", 1e3 },
                  { "sec", 1e3 }, { "seconds", 1e3 }, { "", 1 },   { "milliseconds", 1 } };

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    return NAN;
}

#define BLOCK(name, member)                                                                        \
    MEMBER_INSIDE(name, offsetof(struct import_aiperf_profile, member), block_members)
static const struct import_member block_members[] = {
    MEMBER_TEXT_AT("unit", import_aiperf_block, unit),
    MEMBER_NUMBER_AT("avg", import_aiperf_block, values.mean_ms, 1),
    MEMBER_NUMBER_AT("min", import_aiperf_block, values.min_ms, 1),
    MEMBER_NUMBER_AT("max", import_aiperf_block, values.max_ms, 1),
    MEMBER_NUMBER_AT("p50", import_aiperf_block, values.p50_ms, 1),
    MEMBER_NUMBER_AT("p90", import_aiperf_block, values.p90_ms, 1),
    MEMBER_NUMBER_AT("p95", import_aiperf_block, values.p95_ms, 1),
    MEMBER_NUMBER_AT("p99", import_aiperf_block, values.p99_ms, 1),
    MEMBER_NUMBER_AT("std", import_aiperf_block, values.deviation_ms, 1),
    MEMBER_NUMBER_AT("count", import_aiperf_block, values.count, 1),
    MEMBER_IGNORE("p1"),
    MEMBER_IGNORE("p5"),
    MEMBER_IGNORE("p10"),
    MEMBER_IGNORE("p25"),
    MEMBER_IGNORE("p75"),
    MEMBER_IGNORE("sum"),
    { 0 },
};

static bool read_model(struct json_scan *scan, void *context)
{
    struct import_aiperf_profile *profile = context;
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_STRING && profile->model[0] == '\0')
        json_scan_copy(scan, profile->model, sizeof profile->model);
    return import_skip(scan, token);
}

bool import_aiperf_read_models(struct json_scan *scan, void *base)
{
    return import_array(scan, read_model, base);
}

static bool read_error(struct json_scan *scan, void *context)
{
    static const struct import_member details[] = {
        MEMBER_TEXT_AT("type", error_row, type),
        MEMBER_TEXT_AT("message", error_row, message),
        { 0 },
    };
    static const struct import_member row[] = {
        MEMBER_NUMBER_AT("count", error_row, count, 1),
        MEMBER_INSIDE("error_details", 0, details),
        { 0 },
    };
    struct import_aiperf_profile *profile = context;
    struct error_row read = { 0 };

    if (!import_object(scan, row, &read, NULL))
        return false;
    profile->errors_reported += read.count;
    if (profile->error[0] == '\0')
        snprintf(profile->error, sizeof profile->error, "%s%s%s", read.type,
                 read.type[0] != '\0' ? ": " : "", read.message);
    return true;
}

static bool read_errors(struct json_scan *scan, void *base)
{
    struct import_aiperf_profile *profile = base;

    profile->errors_reported = 0;
    return import_array(scan, read_error, profile);
}

#define NUMBER(name, member) MEMBER_NUMBER_AT(name, import_aiperf_profile, member, 1)
/* Since aiperf 0.13, the settings have lists of models, datasets and phases. The phase that is
 * measured has the kind "profiling". */
static bool read_item(struct json_scan *scan, void *context)
{
    static const struct import_member item[] = {
        MEMBER_TEXT_AT("name", import_aiperf_profile, model), { 0 }
    };

    return import_object(scan, item, context, NULL);
}

static bool read_items(struct json_scan *scan, void *base)
{
    return import_array(scan, read_item, base);
}

struct phase {
    char kind[24];
    double concurrency, rate, requests;
};

static bool read_phase(struct json_scan *scan, void *context)
{
    static const struct import_member members[] = {
        MEMBER_TEXT_AT("kind", phase, kind),
        MEMBER_NUMBER_AT("concurrency", phase, concurrency, 1),
        MEMBER_NUMBER_AT("rate", phase, rate, 1),
        MEMBER_NUMBER_AT("requests", phase, requests, 1),
        { 0 },
    };
    struct import_aiperf_profile *profile = context;
    struct phase phase = { "", NAN, NAN, NAN };

    if (!import_object(scan, members, &phase, NULL))
        return false;
    if (strcmp(phase.kind, "profiling") != 0)
        return true;
    profile->requested_concurrency = phase.concurrency;
    profile->requested_rate = phase.rate;
    profile->requested_count = phase.requests;
    return true;
}

static bool read_phases(struct json_scan *scan, void *base)
{
    return import_array(scan, read_phase, base);
}

static bool read_dataset(struct json_scan *scan, void *context)
{
    static const struct import_member input[] = { NUMBER("mean", requested_input), { 0 } };
    static const struct import_member output[] = { NUMBER("mean", requested_output), { 0 } };
    static const struct import_member prompts[] = {
        MEMBER_INSIDE("isl", 0, input),
        MEMBER_INSIDE("osl", 0, output),
        { 0 },
    };
    static const struct import_member dataset[] = { MEMBER_INSIDE("prompts", 0, prompts), { 0 } };

    return import_object(scan, dataset, context, NULL);
}

static bool read_datasets(struct json_scan *scan, void *base)
{
    return import_array(scan, read_dataset, base);
}

static const struct import_member models[] = { MEMBER_BY("items", read_items), { 0 } };
static const struct import_member endpoint[] = {
    MEMBER_BY("model_names", import_aiperf_read_models),
    NUMBER("timeout_seconds", timeout_s),
    NUMBER("timeout", timeout_s),
    { 0 },
};
static const struct import_member loadgen[] = {
    NUMBER("concurrency", requested_concurrency),
    NUMBER("request_rate", requested_rate),
    NUMBER("request_count", requested_count),
    { 0 },
};
static const struct import_member requested_input[] = { NUMBER("mean", requested_input), { 0 } };
static const struct import_member requested_output[] = { NUMBER("mean", requested_output), { 0 } };
static const struct import_member prompt[] = {
    MEMBER_INSIDE("input_tokens", 0, requested_input),
    MEMBER_INSIDE("output_tokens", 0, requested_output),
    { 0 },
};
static const struct import_member input[] = { MEMBER_INSIDE("prompt", 0, prompt), { 0 } };
static const struct import_member input_config[] = {
    MEMBER_INSIDE("endpoint", 0, endpoint),
    MEMBER_INSIDE("loadgen", 0, loadgen),
    MEMBER_INSIDE("input", 0, input),
    MEMBER_INSIDE("models", 0, models),
    MEMBER_BY("phases", read_phases),
    MEMBER_BY("datasets", read_datasets),
    { 0 },
};
/* Reads the settings that have a row in the table. The others are not kept, not even as text. */
static bool read_config(struct json_scan *scan, void *base)
{
    return import_object(scan, input_config, base, NULL);
}

#define METRICS                                                                                    \
    BLOCK("time_to_first_token", ttft), BLOCK("request_latency", request_latency),                 \
        BLOCK("inter_token_latency", inter_token), BLOCK("inter_chunk_latency", inter_chunk),      \
        BLOCK("time_to_second_token", second_token),                                               \
        BLOCK("time_to_first_output_token", first_output), BLOCK("request_count", requests),       \
        BLOCK("error_request_count", errors), BLOCK("good_request_count", good),                   \
        BLOCK("benchmark_duration", duration), BLOCK("request_throughput", request_throughput),    \
        BLOCK("goodput", goodput), BLOCK("output_token_throughput", output_rate),                  \
        BLOCK("total_token_throughput", total_rate), BLOCK("input_token_throughput", input_rate),  \
        BLOCK("total_isl", total_input), BLOCK("total_osl", total_output),                         \
        BLOCK("output_token_throughput_per_user", stream_rate),                                    \
        BLOCK("input_sequence_length", input), BLOCK("output_sequence_length", output),            \
        BLOCK("usage_prompt_cache_read_tokens", cached),                                           \
        BLOCK("total_usage_prompt_cache_read_tokens", cached_total),                               \
        BLOCK("total_usage_prompt_tokens", usage_input_total),                                     \
        BLOCK("usage_prompt_tokens", usage_input), BLOCK("usage_completion_tokens", usage_output), \
        BLOCK("effective_concurrency", concurrency)
const struct import_member import_aiperf_metrics[] = { METRICS, { 0 } };

void import_aiperf_set_unknown(struct import_aiperf_profile *profile)
{
    struct import_aiperf_block *blocks[] = {
        &profile->ttft,         &profile->request_latency, &profile->inter_token,
        &profile->inter_chunk,  &profile->requests,        &profile->errors,
        &profile->good,         &profile->duration,        &profile->request_throughput,
        &profile->goodput,      &profile->output_rate,     &profile->total_rate,
        &profile->stream_rate,  &profile->input,           &profile->output,
        &profile->usage_input,  &profile->usage_output,    &profile->concurrency,
        &profile->cached,       &profile->cached_total,    &profile->usage_input_total,
        &profile->second_token, &profile->first_output,    &profile->input_rate,
        &profile->total_input,  &profile->total_output,
    };
    struct evidence_cell unknown;

    *profile = (struct import_aiperf_profile){ 0 };
    evidence_cell_read(NULL, &unknown);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        blocks[i]->values = unknown.latency[METRIC_TTFT];
    profile->requested_concurrency = profile->requested_rate = profile->requested_count = NAN;
    profile->requested_input = profile->requested_output = profile->timeout_s = NAN;
    profile->errors_reported = NAN;
    profile->cell = unknown;
    import_own_init(&profile->own);
}

static void copy_latency(const struct import_aiperf_block *block, struct evidence_latency *out)
{
    double ms = import_aiperf_ms(block->unit);

    *out = block->values;
    out->mean_ms *= ms;
    out->deviation_ms *= ms;
    out->min_ms *= ms;
    out->p50_ms *= ms;
    out->p90_ms *= ms;
    out->p95_ms *= ms;
    out->p99_ms *= ms;
    out->max_ms *= ms;
}

/* The share of all input tokens that were cached. The requests without cached tokens count, too. */
static double cached_share(const struct import_aiperf_profile *from)
{
    const struct evidence_latency *cached = &from->cached.values, *all = &from->usage_input.values;

    if (!isnan(from->cached_total.values.mean_ms))
        return from->cached_total.values.mean_ms / from->usage_input_total.values.mean_ms;
    return cached->mean_ms * cached->count / (all->mean_ms * all->count);
}

static void fill(const struct import_aiperf_profile *from, struct evidence_cell *cell)
{
    cell->concurrency = from->requested_concurrency;
    cell->request_rate_asked = from->requested_rate;
    cell->requests_asked = from->requested_count;
    cell->input_length = from->requested_input;
    cell->output_tokens_asked = from->requested_output;
    cell->timeout_s = from->timeout_s;
    cell->succeeded = from->requests.values.mean_ms;
    cell->failed = from->errors.values.mean_ms;
    cell->duration_s =
        from->duration.values.mean_ms
        * (from->duration.unit[0] == '\0' ? 1 : import_aiperf_ms(from->duration.unit) / 1e3);
    cell->request_throughput = from->request_throughput.values.mean_ms;
    cell->goodput = from->goodput.values.mean_ms;
    cell->input_throughput = from->input_rate.values.mean_ms;
    cell->input_tokens = from->total_input.values.mean_ms;
    cell->output_tokens = from->total_output.values.mean_ms;
    cell->output_throughput = from->output_rate.values.mean_ms;
    cell->total_throughput = from->total_rate.values.mean_ms;
    cell->stream_throughput = from->stream_rate.values.mean_ms;
    cell->input_tokens_mean = from->input.values.mean_ms;
    cell->output_tokens_mean = from->output.values.mean_ms;
    cell->input_tokens_usage = from->usage_input.values.mean_ms;
    cell->output_tokens_usage = from->usage_output.values.mean_ms;
    cell->cached_share = cached_share(from);
    cell->concurrency_actual = from->concurrency.values.mean_ms;
    cell->concurrency_max = from->concurrency.values.max_ms;
    text_copy(cell->marks, sizeof cell->marks, from->cell.marks);
    text_copy(cell->variant, sizeof cell->variant, from->cell.variant);
    text_copy(cell->time, sizeof cell->time, from->start_time);
    copy_latency(&from->ttft, &cell->latency[METRIC_TTFT]);
    copy_latency(&from->request_latency, &cell->latency[METRIC_E2E]);
    copy_latency(&from->inter_token, &cell->latency[METRIC_TPOT]);
    copy_latency(&from->inter_chunk, &cell->latency[METRIC_ICL]);
    copy_latency(&from->second_token, &cell->latency[METRIC_TTST]);
    copy_latency(&from->first_output, &cell->latency[METRIC_TTFO]);
}

bool import_aiperf_add_cell(const struct import_aiperf_profile *profile, struct evidence *out,
                            int64_t row, json_t *original, struct error *error)
{
    struct evidence_cell *cell;

    if (!import_cell(out, &cell, error))
        return false;
    fill(profile, cell);
    import_own_apply(&profile->own, cell, out);
    cell->original = json_incref(original);
    cell->row = row;
    if (isnan(cell->failed)) /* aiperf omits an error count of 0, but not the error summary */
        cell->failed = profile->errors_reported;
    if (profile->error[0] != '\0')
        cell->error = memory_copy_text(profile->error);
    import_complete_cell(cell);
    return true;
}

/* ---- Sweeps ---- */

static const struct import_member parameters[] = {
    NUMBER("concurrency", requested_concurrency),
    NUMBER("phases.profiling.concurrency", requested_concurrency),
    NUMBER("request_rate", requested_rate),
    NUMBER("phases.profiling.rate", requested_rate),
    NUMBER("phases.profiling.requests", requested_count),
    NUMBER("endpoint.timeout", timeout_s),
    NUMBER("isl", requested_input),
    NUMBER("osl", requested_output),
    { 0 },
};
/* The parameters of one run of a sweep. */
static const struct import_member run_info[] = {
    MEMBER_INSIDE("variation_values", 0, parameters),
    { 0 },
};

static bool read_run_info(struct json_scan *scan, void *base)
{
    return import_object(scan, run_info, base, NULL);
}

static bool read_combination(struct json_scan *scan, void *context)
{
    static const struct import_member combination[] = {
        MEMBER_INSIDE("parameters", 0, parameters),
        MEMBER_INSIDE("metrics", 0, import_aiperf_metrics),
        { 0 },
    };
    struct import_aiperf_profile *sweep = context, profile;
    json_auto_t *original = json_object();

    import_aiperf_set_unknown(&profile);
    sweep->combinations++;
    if (!import_object(scan, combination, &profile, NULL))
        return false;
    sweep->is_refused = !import_aiperf_add_cell(&profile, sweep->out, (int64_t)sweep->combinations,
                                                original, sweep->refusal);
    return !sweep->is_refused;
}

static bool read_combinations(struct json_scan *scan, void *base)
{
    return import_array(scan, read_combination, base);
}

/* ---- The file ---- */

static CHECKED bool read_profile(void *context, const char *document, size_t size, int64_t line,
                                 struct error *error)
{
    static const struct import_member aggregation[] = {
        MEMBER_TEXT_AT("aggregation_type", import_aiperf_profile, aggregation),
        { 0 },
    };
    static const struct import_member members[] = {
        MEMBER_BY("input_config", read_config),
        MEMBER_BY("run_info", read_run_info),
        MEMBER_IGNORE("schema_version"),
        MEMBER_TEXT_AT("start_time", import_aiperf_profile, start_time),
        MEMBER_BY("error_summary", read_errors),
        MEMBER_INSIDE("metadata", 0, aggregation),
        MEMBER_BY("per_combination_metrics", read_combinations),
        OWN_MEMBERS(import_aiperf_profile),
        METRICS,
        { 0 },
    };
    struct evidence *out = context;
    struct import_aiperf_profile profile;
    struct json_scan scan;
    json_auto_t *original = json_object();

    import_aiperf_set_unknown(&profile);
    profile.out = out;
    profile.refusal = error;
    import_scan_init(&scan, document, size);
    import_object(&scan, members, &profile, original);
    if (profile.is_refused)
        return false;
    if (profile.combinations > 0)
        return true;
    if (strcmp(profile.aggregation, "confidence") == 0)
        return error_set(
            error, ERROR_INVALID,
            "the file is aiperf's aggregate of repeated runs, without the individual runs: import "
            "each run's profile_export_aiperf.json instead");
    if (!import_aiperf_add_cell(&profile, out, line, original, error))
        return false;
    if (out->cell_count == 1) /* our own exports write "(unknown)" if the model is not known */
        text_copy(out->facts.model, sizeof out->facts.model,
                  strcmp(profile.model, "(unknown)") == 0 ? "" : profile.model);
    return true;
}

bool import_sniff_aiperf(const char *bytes, size_t length)
{
    static const char *const named[] = { "aiperf_version", NULL };
    static const char *const sweep[] = { "aggregation_type", "per_combination_metrics", NULL };
    static const char *const setup[] = { "benchmark_id", "input_config", NULL };
    static const char *const figures[] = { "request_latency", "request_throughput", NULL };

    return import_is_own(bytes, length, "aiperf") || import_has_keys(bytes, length, named)
           || import_has_keys(bytes, length, sweep) || import_has_keys(bytes, length, setup)
           || (import_has_keys(bytes, length, figures) && !import_sniff_genai_perf(bytes, length));
}

bool import_read_aiperf(const struct import_file *file, struct evidence *out, struct error *error)
{
    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "aiperf");
    return import_documents(file->bytes, file->length, read_profile, out, error);
}
