/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_columns.h"

#include <ctype.h>
#include <string.h>

#define CELL(member, times)                                                                        \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, member),            \
        .scale = (times)                                                                           \
    }
#define CELL_ASSUMED(member, times, sentence)                                                      \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, member),            \
        .scale = (times), .assumed = (sentence)                                                    \
    }
#define LENGTH(of)                                                                                 \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, input_length),      \
        .scale = 1, .unit = (of)                                                                   \
    }
#define CELL_TEXT(member)                                                                          \
    {                                                                                              \
        .kind = IMPORT_COLUMN_TEXT, .offset = offsetof(struct evidence_cell, member),              \
        .size = sizeof((struct evidence_cell *)0)->member                                          \
    }
#define FACT(member)                                                                               \
    {                                                                                              \
        .kind = IMPORT_COLUMN_FACT, .offset = offsetof(struct evidence_facts, member),             \
        .size = sizeof((struct evidence_facts *)0)->member                                         \
    }
#define FACT_NUMBER(member)                                                                        \
    {                                                                                              \
        .kind = IMPORT_COLUMN_FACT_NUMBER, .offset = offsetof(struct evidence_facts, member),      \
        .scale = 1                                                                                 \
    }
#define FAILED_SHARE(times)                                                                        \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, success_rate),      \
        .scale = (times), .is_complement = true                                                    \
    }

static const struct known {
    const char *heading;
    struct import_column column;
} known[] = {
    { "concurrency", CELL(concurrency, 1) },
    { "max_concurrency", CELL(concurrency, 1) },
    { "concurrent_users", CELL(concurrency, 1) },
    { "concurrent_requests", CELL(concurrency, 1) },
    { "num_users", CELL(concurrency, 1) },
    { "users", CELL(concurrency, 1) },
    { "concurrency_level", CELL(concurrency, 1) },
    { "parallel_requests", CELL(concurrency, 1) },
    { "parallelism", CELL(concurrency, 1) },
    { "clients", CELL(concurrency, 1) },
    { "num_clients", CELL(concurrency, 1) },
    { "vus", CELL(concurrency, 1) },
    { "conc", CELL(concurrency, 1) },
    { "actual_concurrency", CELL(concurrency_actual, 1) },
    { "concurrency_actual", CELL(concurrency_actual, 1) },
    { "achieved_concurrency", CELL(concurrency_actual, 1) },
    { "max_concurrent_requests", CELL(concurrency_max, 1) },

    { "context_size", LENGTH(LENGTH_UNKNOWN) },
    { "context_len", LENGTH(LENGTH_UNKNOWN) },
    { "context_length", LENGTH(LENGTH_UNKNOWN) },
    { "context", LENGTH(LENGTH_UNKNOWN) },
    { "ctx", LENGTH(LENGTH_UNKNOWN) },
    { "prompt_size", LENGTH(LENGTH_UNKNOWN) },
    { "prompt_len", LENGTH(LENGTH_UNKNOWN) },
    { "prompt_length", LENGTH(LENGTH_UNKNOWN) },
    { "input_length", LENGTH(LENGTH_UNKNOWN) },
    { "input_len", LENGTH(LENGTH_TOKENS) },
    { "random_input_len", LENGTH(LENGTH_TOKENS) },
    { "isl", LENGTH(LENGTH_TOKENS) },
    { "input_sequence_length", LENGTH(LENGTH_TOKENS) },
    { "context_tokens", LENGTH(LENGTH_TOKENS) },
    { "input_words", LENGTH(LENGTH_WORDS) },
    { "prompt_words", LENGTH(LENGTH_WORDS) },
    { "context_words", LENGTH(LENGTH_WORDS) },
    { "words", LENGTH(LENGTH_WORDS) },
    { "max_tokens", CELL(output_tokens_asked, 1) },
    { "max_output_tokens", CELL(output_tokens_asked, 1) },
    { "max_new_tokens", CELL(output_tokens_asked, 1) },
    { "output_length", CELL(output_tokens_asked, 1) },
    { "output_len", CELL(output_tokens_asked, 1) },
    { "random_output_len", CELL(output_tokens_asked, 1) },
    { "osl", CELL(output_tokens_asked, 1) },
    { "output_sequence_length", CELL(output_tokens_asked, 1) },
    { "input_tokens_mean", CELL(input_tokens_mean, 1) },
    { "avg_input_tokens", CELL(input_tokens_mean, 1) },
    { "output_tokens_mean", CELL(output_tokens_mean, 1) },
    { "avg_output_tokens", CELL(output_tokens_mean, 1) },
    { "total_input_tokens", CELL(input_tokens, 1) },
    { "total_prompt_tokens", CELL(input_tokens, 1) },
    { "total_output_tokens", CELL(output_tokens, 1) },
    { "total_generated_tokens", CELL(output_tokens, 1) },
    { "total_completion_tokens", CELL(output_tokens, 1) },
    { "cached_tokens", CELL(cached_tokens, 1) },
    { "cached_input_tokens", CELL(cached_tokens, 1) },
    { "cached_share", CELL(cached_share, 1) },
    { "cache_hit_rate", CELL(cached_share, 1) },
    { "prefix_cache_hit_rate", CELL(cached_share, 1) },
    { "cache_hit_rate_pct", CELL(cached_share, 0.01) },
    { "prefix_cache_hit_rate_pct", CELL(cached_share, 0.01) },
    { "prefix_cache_hit_pct", CELL(cached_share, 0.01) },
    { "cache_hit_pct", CELL(cached_share, 0.01) },

    { "num_prompts", CELL(requests_asked, 1) },
    { "num_requests", CELL(requests_asked, 1) },
    { "requests_asked", CELL(requests_asked, 1) },
    { "total_requests", CELL(attempted, 1) },
    { "requests", CELL(attempted, 1) },
    { "n_requests", CELL(attempted, 1) },
    { "attempted", CELL(attempted, 1) },
    { "num_success", CELL(succeeded, 1) },
    { "successful_requests", CELL(succeeded, 1) },
    { "success_count", CELL(succeeded, 1) },
    { "succeeded", CELL(succeeded, 1) },
    { "successful", CELL(succeeded, 1) },
    { "completed", CELL(succeeded, 1) },
    { "num_failure", CELL(failed, 1) },
    { "num_failures", CELL(failed, 1) },
    { "num_failed", CELL(failed, 1) },
    { "failed_requests", CELL(failed, 1) },
    { "failure_count", CELL(failed, 1) },
    { "error_count", CELL(failed, 1) },
    { "failed", CELL(failed, 1) },
    { "failures", CELL(failed, 1) },
    { "errors", CELL(failed, 1) },
    { "success_rate", CELL(success_rate, 1) },
    { "success_rate_pct", CELL(success_rate, 0.01) },
    { "success_rate_percent", CELL(success_rate, 0.01) },
    { "success_pct", CELL(success_rate, 0.01) },
    { "success_percent", CELL(success_rate, 0.01) },
    { "success_ratio", CELL(success_rate, 1) },
    { "error_rate", FAILED_SHARE(1) },
    { "failure_rate", FAILED_SHARE(1) },
    { "error_rate_pct", FAILED_SHARE(0.01) },
    { "failure_rate_pct", FAILED_SHARE(0.01) },
    { "error_pct", FAILED_SHARE(0.01) },

    { "duration_s", CELL(duration_s, 1) },
    { "duration_sec", CELL(duration_s, 1) },
    { "duration_seconds", CELL(duration_s, 1) },
    { "duration_ms", CELL(duration_s, 0.001) },
    { "elapsed_s", CELL(duration_s, 1) },
    { "elapsed_sec", CELL(duration_s, 1) },
    { "wall_time_s", CELL(duration_s, 1) },
    { "total_time_s", CELL(duration_s, 1) },
    { "total_time", CELL_ASSUMED(duration_s, 1, "seconds") },
    { "duration", CELL_ASSUMED(duration_s, 1, "seconds") },
    { "timeout_s", CELL(timeout_s, 1) },
    { "timeout_sec", CELL(timeout_s, 1) },
    { "timeout_ms", CELL(timeout_s, 0.001) },

    { "req_per_sec", CELL(request_throughput, 1) },
    { "req_per_s", CELL(request_throughput, 1) },
    { "req_sec", CELL(request_throughput, 1) },
    { "reqs_per_sec", CELL(request_throughput, 1) },
    { "requests_per_sec", CELL(request_throughput, 1) },
    { "requests_per_second", CELL(request_throughput, 1) },
    { "throughput_req_sec", CELL(request_throughput, 1) },
    { "throughput_req_per_sec", CELL(request_throughput, 1) },
    { "throughput_req_s", CELL(request_throughput, 1) },
    { "throughput_rps", CELL(request_throughput, 1) },
    { "request_throughput", CELL(request_throughput, 1) },
    { "request_rate_rps", CELL(request_throughput, 1) },
    { "rps", CELL(request_throughput, 1) },
    { "qps", CELL(request_throughput, 1) },
    { "requests_per_min", CELL(request_throughput, 1.0 / 60) },
    { "requests_per_minute", CELL(request_throughput, 1.0 / 60) },
    { "rpm", CELL(request_throughput, 1.0 / 60) },
    { "request_rate", CELL(request_rate_asked, 1) },
    { "target_rps", CELL(request_rate_asked, 1) },
    { "goodput", CELL(goodput, 1) },
    { "request_goodput", CELL(goodput, 1) },
    { "output_tok_per_s", CELL(output_throughput, 1) },
    { "output_tok_per_sec", CELL(output_throughput, 1) },
    { "output_tokens_per_s", CELL(output_throughput, 1) },
    { "output_tokens_per_sec", CELL(output_throughput, 1) },
    { "output_tokens_per_second", CELL(output_throughput, 1) },
    { "output_throughput", CELL(output_throughput, 1) },
    { "output_token_throughput", CELL(output_throughput, 1) },
    { "output_tps", CELL(output_throughput, 1) },
    { "generated_tok_per_s", CELL(output_throughput, 1) },
    { "input_tok_per_s", CELL(input_throughput, 1) },
    { "input_tok_per_sec", CELL(input_throughput, 1) },
    { "input_tokens_per_sec", CELL(input_throughput, 1) },
    { "input_tokens_per_second", CELL(input_throughput, 1) },
    { "input_throughput", CELL(input_throughput, 1) },
    { "prompt_tok_per_s", CELL(input_throughput, 1) },
    { "total_tok_per_s", CELL(total_throughput, 1) },
    { "total_tok_per_sec", CELL(total_throughput, 1) },
    { "total_tokens_per_sec", CELL(total_throughput, 1) },
    { "total_tokens_per_second", CELL(total_throughput, 1) },
    { "total_token_throughput", CELL(total_throughput, 1) },
    { "total_throughput", CELL(total_throughput, 1) },
    { "tokens_per_sec", CELL(token_throughput, 1) },
    { "tokens_per_s", CELL(token_throughput, 1) },
    { "tokens_per_second", CELL(token_throughput, 1) },
    { "tokens_sec", CELL(token_throughput, 1) },
    { "tokens_s", CELL(token_throughput, 1) },
    { "tok_per_s", CELL(token_throughput, 1) },
    { "tok_per_sec", CELL(token_throughput, 1) },
    { "tok_s", CELL(token_throughput, 1) },
    { "tps", CELL(token_throughput, 1) },
    { "throughput_tok_s", CELL(token_throughput, 1) },
    { "throughput_tokens_sec", CELL(token_throughput, 1) },
    { "per_stream_tok_per_s", CELL(stream_throughput, 1) },
    { "tok_per_s_per_user", CELL(stream_throughput, 1) },
    { "output_token_throughput_per_user", CELL(stream_throughput, 1) },

    { "status", CELL_TEXT(status) },
    { "state", CELL_TEXT(status) },
    { "variant", CELL_TEXT(variant) },
    { "timestamp", CELL_TEXT(time) },
    { "date", CELL_TEXT(time) },
    { "time", CELL_TEXT(time) },
    { "start_time", CELL_TEXT(time) },
    { "model", FACT(model) },
    { "model_id", FACT(model) },
    { "model_name", FACT(model) },
    { "engine", FACT(engine) },
    { "engine_version", FACT(engine_version) },
    { "hardware", FACT(hardware) },
    { "accelerator", FACT(hardware) },
    { "gpu", FACT(hardware) },
    { "region", FACT(region) },
    { "zone", FACT(region) },
    { "quantization", FACT(quantization) },
    { "dataset", FACT(dataset) },
    { "run_date", FACT(date) }, /* "date" belongs to each row */
    { "chips", FACT_NUMBER(chips) },
    { "num_gpus", FACT_NUMBER(chips) },
    { "max_model_len", FACT_NUMBER(context_limit_tokens) },
    { "context_limit", FACT_NUMBER(context_limit_tokens) },
    { "max_instances", FACT_NUMBER(max_instances) },
    { "container_concurrency", FACT_NUMBER(container_concurrency) },
    { "tensor_parallel_size", FACT_NUMBER(tensor_parallel) },
    { "price_usd_per_chip_hour", FACT_NUMBER(price_usd_per_chip_hour) },
};

void import_column_normalize(const char *heading, char out[HEADING_SIZE])
{
    size_t length = 0;

    for (; *heading != '\0' && length + 1 < HEADING_SIZE; heading++) {
        if (isalnum((unsigned char)*heading) != 0)
            out[length++] = (char)tolower((unsigned char)*heading);
        else if (length > 0 && out[length - 1] != '_' && strchr("%)]", *heading) == NULL)
            out[length++] = '_';
    }
    while (length > 0 && out[length - 1] == '_')
        length--;
    out[length] = '\0';
}

/* ---- Latencies: a statistic, a metric and a unit, in any order of the first two ---- */

struct name {
    const char *word;
    size_t value;
};

static const struct name statistics[] = {
    { "mean", offsetof(struct evidence_latency, mean_ms) },
    { "avg", offsetof(struct evidence_latency, mean_ms) },
    { "average", offsetof(struct evidence_latency, mean_ms) },
    { "median", offsetof(struct evidence_latency, p50_ms) },
    { "p50", offsetof(struct evidence_latency, p50_ms) },
    { "p90", offsetof(struct evidence_latency, p90_ms) },
    { "p95", offsetof(struct evidence_latency, p95_ms) },
    { "p99", offsetof(struct evidence_latency, p99_ms) },
    { "min", offsetof(struct evidence_latency, min_ms) },
    { "max", offsetof(struct evidence_latency, max_ms) },
    { "std", offsetof(struct evidence_latency, deviation_ms) },
    { "stddev", offsetof(struct evidence_latency, deviation_ms) },
    { "count", offsetof(struct evidence_latency, count) },
    { NULL, 0 },
};

static const struct name metrics[] = {
    { "ttft", METRIC_TTFT },
    { "time_to_first_token", METRIC_TTFT },
    { "itl", METRIC_ITL },
    { "inter_token_latency", METRIC_ITL },
    { "icl", METRIC_ICL },
    { "inter_chunk_latency", METRIC_ICL },
    { "ttfo", METRIC_TTFO },
    { "ttst", METRIC_TTST },
    { "tpot", METRIC_TPOT },
    { "time_per_output_token", METRIC_TPOT },
    { "e2e", METRIC_E2E },
    { "e2el", METRIC_E2E },
    { "e2e_latency", METRIC_E2E },
    { "end_to_end_latency", METRIC_E2E },
    { "request_latency", METRIC_E2E },
    { "latency", METRIC_E2E },
    { "queue", METRIC_QUEUE },
    { "ttft_from_send", METRIC_TTFT_SENT },
    { "e2e_from_send", METRIC_E2E_SENT },
    { NULL, 0 },
};

static const struct unit {
    const char *word;
    double scale; /* to milliseconds */
} units[] = {
    { "_ms", 1 },        { "_msec", 1 },    { "_milliseconds", 1 }, { "_s", 1000 },
    { "_sec", 1000 },    { "_secs", 1000 }, { "_seconds", 1000 },   { "_us", 0.001 },
    { "_ns", 0.000001 }, { NULL, 0 },
};

/* Cuts off the unit; 0: there is none. */
static double cut_unit(char *name)
{
    size_t length = strlen(name);

    for (const struct unit *unit = units; unit->word != NULL; unit++) {
        size_t size = strlen(unit->word);

        if (length > size && strcmp(name + length - size, unit->word) == 0) {
            name[length - size] = '\0';
            return unit->scale;
        }
    }
    return 0;
}

/* Cuts off the word at the beginning or the end. */
static const struct name *cut_statistic(char *name)
{
    size_t length = strlen(name);

    for (const struct name *row = statistics; row->word != NULL; row++) {
        size_t size = strlen(row->word);

        if (length <= size + 1)
            continue;
        if (strncmp(name, row->word, size) == 0 && name[size] == '_') {
            memmove(name, name + size + 1, length - size);
            return row;
        }
        if (name[length - size - 1] == '_' && strcmp(name + length - size, row->word) == 0) {
            name[length - size - 1] = '\0';
            return row;
        }
    }
    return NULL;
}

static struct import_column find_latency(const char *heading)
{
    struct import_column column = { .kind = IMPORT_COLUMN_UNKNOWN };
    char name[HEADING_SIZE];
    const struct name *statistic, *metric = metrics;
    double scale;

    text_copy(name, sizeof name, heading);
    scale = cut_unit(name);
    statistic = cut_statistic(name);
    if (scale == 0)
        scale = cut_unit(name); /* ttft_ms_p99 */
    while (metric->word != NULL && strcmp(metric->word, name) != 0)
        metric++;
    if (statistic == NULL || metric->word == NULL)
        return column;
    if (statistic->value == offsetof(struct evidence_latency, count))
        scale = 1;
    column.lacks_unit = scale == 0 && strcmp(metric->word, "latency") != 0;
    if (column.lacks_unit)
        return column;
    column.kind = IMPORT_COLUMN_NUMBER;
    column.offset = offsetof(struct evidence_cell, latency)
                    + metric->value * sizeof(struct evidence_latency) + statistic->value;
    column.scale = scale == 0 ? 1000 : scale;
    column.assumed = scale == 0 ? "seconds" : NULL;
    return column;
}

/* ---- Rates: what is counted, per second ---- */

static const struct name subjects[] = {
    { "req", offsetof(struct evidence_cell, request_throughput) },
    { "reqs", offsetof(struct evidence_cell, request_throughput) },
    { "request", offsetof(struct evidence_cell, request_throughput) },
    { "requests", offsetof(struct evidence_cell, request_throughput) },
    { "output", offsetof(struct evidence_cell, output_throughput) },
    { "out", offsetof(struct evidence_cell, output_throughput) },
    { "generated", offsetof(struct evidence_cell, output_throughput) },
    { "generation", offsetof(struct evidence_cell, output_throughput) },
    { "gen", offsetof(struct evidence_cell, output_throughput) },
    { "completion", offsetof(struct evidence_cell, output_throughput) },
    { "decode", offsetof(struct evidence_cell, output_throughput) },
    { "input", offsetof(struct evidence_cell, input_throughput) },
    { "prompt", offsetof(struct evidence_cell, input_throughput) },
    { "prefill", offsetof(struct evidence_cell, input_throughput) },
    { "total", offsetof(struct evidence_cell, total_throughput) },
    { "", offsetof(struct evidence_cell, token_throughput) },
    { NULL, 0 },
};

static bool cut_end(char *name, const char *const *ends)
{
    size_t length = strlen(name);

    for (; *ends != NULL; ends++) {
        size_t size = strlen(*ends);

        if (length >= size && strcmp(name + length - size, *ends) == 0) {
            name[length - size] = '\0';
            return true;
        }
    }
    return false;
}

/* "output_tok_s", "throughput_tokens_per_sec", "decode_tps". */
static struct import_column find_rate(const char *heading)
{
    static const char *const seconds[] = { "_per_second", "_per_sec", "_per_s", "_second",
                                           "_sec",        "_s",       NULL };
    static const char *const tokens[] = { "_tokens", "_token", "_toks", "_tok", NULL };
    static const char *const bare[] = { "tokens", "token", "toks", "tok", NULL };
    static const char *const together[] = { "_tps", NULL };
    struct import_column column = { .kind = IMPORT_COLUMN_UNKNOWN };
    const struct name *subject = subjects;
    char name[HEADING_SIZE];
    bool of_tokens;

    text_copy(name, sizeof name, strncmp(heading, "throughput_", 11) == 0 ? heading + 11 : heading);
    of_tokens = cut_end(name, together);
    if (!of_tokens && !cut_end(name, seconds))
        return column;
    of_tokens = of_tokens || cut_end(name, tokens) || cut_end(name, bare);
    while (subject->word != NULL && strcmp(subject->word, name) != 0)
        subject++;
    if (subject->word == NULL
        || of_tokens == (subject->value == offsetof(struct evidence_cell, request_throughput)))
        return column;
    column.kind = IMPORT_COLUMN_NUMBER;
    column.offset = subject->value;
    column.scale = 1;
    return column;
}

/* By the names that figures and facts have in our own tables. */
static struct import_column find_field(const struct evidence_field *fields,
                                       enum import_column_kind number, enum import_column_kind text,
                                       const char *heading)
{
    for (; fields->name != NULL; fields++)
        if (strcmp(fields->name, heading) == 0)
            return (struct import_column){ .kind = fields->size > 0 ? text : number,
                                           .offset = fields->offset,
                                           .size = fields->size,
                                           .scale = 1 };
    return (struct import_column){ .kind = IMPORT_COLUMN_UNKNOWN };
}

static struct import_column find_own(const char *heading)
{
    struct import_column column =
        find_field(evidence_cell_fields, IMPORT_COLUMN_NUMBER, IMPORT_COLUMN_TEXT, heading);

    return column.kind != IMPORT_COLUMN_UNKNOWN
               ? column
               : find_field(evidence_fact_fields, IMPORT_COLUMN_FACT_NUMBER, IMPORT_COLUMN_FACT,
                            heading);
}

struct import_column import_column_find(const char *heading)
{
    struct import_column rate, latency;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].heading, heading) == 0)
            return known[i].column;
    if (strcmp(heading, "error") == 0 || strcmp(heading, "error_message") == 0)
        return (struct import_column){ .kind = IMPORT_COLUMN_ERROR };
    if (strcmp(heading, "throughput") == 0)
        return (struct import_column){
            .kind = IMPORT_COLUMN_NUMBER,
            .offset = offsetof(struct evidence_cell, request_throughput),
            .scale = 1,
            .is_throughput = true,
        };
    if (strcmp(heading, "input_tokens") == 0 || strcmp(heading, "prompt_tokens") == 0)
        return (struct import_column){
            .kind = IMPORT_COLUMN_NUMBER,
            .offset = offsetof(struct evidence_cell, input_length),
            .scale = 1,
            .is_ambiguous = true,
        };
    rate = find_rate(heading);
    if (rate.kind != IMPORT_COLUMN_UNKNOWN)
        return rate;
    latency = find_latency(heading);
    return latency.kind == IMPORT_COLUMN_UNKNOWN && !latency.lacks_unit ? find_own(heading)
                                                                        : latency;
}
