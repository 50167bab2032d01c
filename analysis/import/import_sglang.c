/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the JSONL of SGLang's `bench_serving`, which has a line per measurement. Most members have
 * vLLM's names. A line also has the length options of datasets that were not used. It shows how
 * many requests were sent only if the tool was started with --output-details. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"

struct result {
    struct evidence_cell cell;
    struct evidence_facts facts;
    char dataset[64];
    double random_input, random_output, range_ratio, sharegpt_output;
    double sent; /* how many requests were sent; NaN: the line has no list of errors */
    double total_prompt, total_cached;
};

#define CELL(name, member) MEMBER_NUMBER_AT(name, result, cell.member, 1)
#define NUMBER(name, member) MEMBER_NUMBER_AT(name, result, member, 1)
#define FACT(name, member) MEMBER_TEXT_AT(name, result, facts.member)
#define LATENCIES(name, metric)                                                                    \
    CELL("mean_" name "_ms", latency[metric].mean_ms),                                             \
        CELL("std_" name "_ms", latency[metric].deviation_ms),                                     \
        CELL("median_" name "_ms", latency[metric].p50_ms),                                        \
        CELL("p90_" name "_ms", latency[metric].p90_ms),                                           \
        CELL("p95_" name "_ms", latency[metric].p95_ms),                                           \
        CELL("p99_" name "_ms", latency[metric].p99_ms),                                           \
        CELL("max_" name "_ms", latency[metric].max_ms)

/* The list has a string for each request sent: its error, or "" if there was no error. Counts the
 * requests, and keeps the first string that is not empty. */
static bool read_error(struct json_scan *scan, void *context)
{
    struct result *result = context;

    result->sent++;
    return import_skip_error(scan, json_scan_next(scan), &result->cell.error);
}

static bool read_errors(struct json_scan *scan, void *base)
{
    ((struct result *)base)->sent = 0;
    return import_array(scan, read_error, base);
}

/* Reads the facts among the server's settings. The other settings are not figures. */
static bool read_server(struct json_scan *scan, void *base)
{
    static const struct import_member server[] = {
        FACT("model_path", model),
        FACT("served_model_name", model),
        FACT("revision", model_revision),
        FACT("version", engine_version),
        FACT("quantization", quantization),
        FACT("dtype", weights_type),
        FACT("kv_cache_dtype", cache_type),
        NUMBER("tp_size", facts.tensor_parallel),
        NUMBER("context_length", facts.context_limit_tokens),
        { 0 },
    };

    return import_object(scan, server, base, NULL);
}

static const struct import_member cache_report[] = {
    NUMBER("total_prompt_tokens", total_prompt),
    NUMBER("total_cached_tokens", total_cached),
    MEMBER_IGNORE("cache_hit_rate_pct"),
    { 0 },
};

static const struct import_member members[] = {
    MEMBER_TEXT_AT("dataset_name", result, dataset),
    MEMBER_BY("server_info", read_server),
    CELL("request_rate", request_rate_asked),
    CELL("max_concurrency", concurrency),
    NUMBER("random_input_len", random_input),
    NUMBER("random_output_len", random_output),
    NUMBER("sharegpt_output_len", sharegpt_output),
    NUMBER("random_range_ratio", range_ratio),
    CELL("duration", duration_s),
    CELL("completed", succeeded),
    CELL("total_input_tokens", input_tokens),
    MEMBER_IGNORE("total_input_text_tokens"),
    MEMBER_IGNORE("total_input_vision_tokens"),
    CELL("total_output_tokens", output_tokens),
    MEMBER_IGNORE("total_output_tokens_retokenized"),
    CELL("request_throughput", request_throughput),
    CELL("request_goodput", goodput),
    CELL("input_throughput", input_throughput),
    CELL("output_throughput", output_throughput),
    CELL("total_throughput", total_throughput),
    CELL("concurrency", concurrency_actual),
    CELL("max_concurrent_requests", concurrency_max),
    LATENCIES("ttft", METRIC_TTFT),
    LATENCIES("tpot", METRIC_TPOT),
    LATENCIES("itl", METRIC_ICL),
    LATENCIES("e2e_latency", METRIC_E2E),
    MEMBER_INSIDE("cache_report", 0, cache_report),
    MEMBER_BY("errors", read_errors),
    /* with --output-details: lists with an item for each request */
    MEMBER_IGNORE("input_lens"),
    MEMBER_IGNORE("output_lens"),
    MEMBER_IGNORE("ttfts"),
    MEMBER_IGNORE("itls"),
    MEMBER_IGNORE("generated_texts"),
    MEMBER_IGNORE("cached_tokens"),
    MEMBER_IGNORE("cached_tokens_details"),
    { 0 },
};

static void set_unknown(struct result *result)
{
    *result = (struct result){ 0 };
    evidence_cell_read(NULL, &result->cell);
    evidence_facts_read(NULL, &result->facts);
    result->random_input = result->random_output = result->sharegpt_output = NAN;
    result->range_ratio = NAN;
    result->sent = result->total_prompt = result->total_cached = NAN;
}

/* The mean of the lengths that SGLang draws from `range_ratio` times `length` up to `length`. If
 * the ratio is unknown, or 1 or more, all requests have `length`. */
static double drawn_length(double length, double range_ratio)
{
    return range_ratio < 1 ? length * (1 + range_ratio) / 2 : length;
}

/* Reads only the options of the dataset used: the file also has those of other datasets. */
static void fill_lengths(const struct result *result, struct evidence_cell *cell)
{
    if (strncmp(result->dataset, "random", 6) == 0) {
        cell->input_length = drawn_length(result->random_input, result->range_ratio);
        cell->output_tokens_asked = drawn_length(result->random_output, result->range_ratio);
    } else if (strcmp(result->dataset, "sharegpt") == 0) {
        cell->output_tokens_asked = result->sharegpt_output;
    }
}

static void merge_fact(char *all, const char *one, size_t size, bool is_first)
{
    if (is_first)
        text_copy(all, size, one);
    else if (strcmp(all, one) != 0)
        all[0] = '\0';
}

/* If two lines have different numbers, *all becomes NaN. A line without the number leaves *all
 * unchanged, unless it is the first line. */
static void merge_number(double *all, double one, bool is_first)
{
    if (is_first)
        *all = one;
    else if (!isnan(one) && *all != one)
        *all = NAN;
}

/* Keeps the facts on which the lines agree. */
static void merge_facts(const struct result *result, struct evidence *out)
{
    struct evidence_facts *all = &out->facts;
    bool is_first = out->cell_count == 1;

#define MERGE(member) merge_fact(all->member, result->facts.member, sizeof all->member, is_first)
    MERGE(model);
    MERGE(model_revision);
    MERGE(engine_version);
    MERGE(quantization);
    MERGE(weights_type);
    MERGE(cache_type);
#undef MERGE
    merge_fact(all->dataset, result->dataset, sizeof all->dataset, is_first);
    merge_number(&all->tensor_parallel, result->facts.tensor_parallel, is_first);
    merge_number(&all->context_limit_tokens, result->facts.context_limit_tokens, is_first);
    if (result->facts.engine_version[0] != '\0')
        text_copy(all->engine, sizeof all->engine, "sglang");
}

/* Stores the model and the dataset in the row, because the lines of a file can differ in them. */
static void keep_facts(const struct result *result, json_t *original)
{
    if (result->facts.model[0] != '\0')
        json_object_set_new(original, "model", json_string(result->facts.model));
    if (result->dataset[0] != '\0')
        json_object_set_new(original, "dataset_name", json_string(result->dataset));
}

static void complete_cell(const struct result *result, struct evidence_cell *cell)
{
    fill_lengths(result, cell);
    cell->attempted = result->sent;
    cell->cached_share = result->total_cached / result->total_prompt;
    keep_facts(result, cell->original);
    import_complete_cell(cell);
}

/* If neither the rate nor the number of requests in flight is limited, all requests start at once.
 * Their number is then the concurrency. */
static void complete_burst(struct evidence_cell *cell)
{
    if (isnan(cell->request_rate_asked) && isnan(cell->concurrency))
        cell->concurrency = cell->attempted;
}

static bool draws_lengths(const struct result *result)
{
    return strncmp(result->dataset, "random", 6) == 0 && result->range_ratio < 1;
}

struct reading {
    struct evidence *out;
    bool remarked_lengths;
};

static void remark_lengths(const struct result *result, struct reading *reading)
{
    if (!draws_lengths(result) || reading->remarked_lengths)
        return;
    reading->remarked_lengths = true;
    evidence_remark(
        reading->out,
        "row %lld: input lengths were drawn from random_range_ratio (%.3g) times random_input_len "
        "up to random_input_len, and output lengths likewise; the lengths imported for all such "
        "rows are the means",
        (long long)result->cell.row, result->range_ratio);
}

static CHECKED bool read_result(void *context, const char *document, size_t size, int64_t line,
                                struct error *error)
{
    struct reading *reading = context;
    struct evidence *out = reading->out;
    struct result result;
    struct evidence_cell *cell;
    struct json_scan scan;

    if (!import_cell(out, &cell, error))
        return false;
    set_unknown(&result);
    result.cell.position = cell->position;
    result.cell.row = line;
    result.cell.original = json_object();
    import_scan_init(&scan, document, size);
    import_object(&scan, members, &result, result.cell.original);
    *cell = result.cell;
    merge_facts(&result, out);
    complete_cell(&result, cell);
    complete_burst(cell);
    remark_lengths(&result, reading);
    return true;
}

static bool lacks_attempts(const struct evidence *out)
{
    for (size_t i = 0; i < out->cell_count; i++)
        if (isnan(out->cells[i].attempted))
            return true;
    return false;
}

bool import_read_sglang(const struct import_file *file, struct evidence *out, struct error *error)
{
    struct reading reading = { .out = out };

    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "sglang bench_serving");
    if (!import_documents(file->bytes, file->length, read_result, &reading, error))
        return false;
    if (lacks_attempts(out))
        evidence_remark(out, "without --output-details, this format does not say how many requests "
                             "were sent: the success rate is not known");
    return true;
}
