/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/import/import_columns.h"

#include <ctype.h>
#include <string.h>

#define CELL(member, factor)                                                                       \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, member),            \
        .scale = (factor)                                                                          \
    }
#define CELL_ASSUMED(member, factor, unit_name)                                                    \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, member),            \
        .scale = (factor), .assumed = (unit_name)                                                  \
    }
#define LENGTH(length_unit)                                                                        \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, input_length),      \
        .scale = 1, .unit = (length_unit)                                                          \
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
#define FAILED_SHARE(factor)                                                                       \
    {                                                                                              \
        .kind = IMPORT_COLUMN_NUMBER, .offset = offsetof(struct evidence_cell, success_rate),      \
        .scale = (factor), .is_complement = true                                                   \
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
    { "run_date", FACT(date) }, /* a column "date" has the time of each row */
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

/* Finds the field that has this name in our own JSON. */
static struct import_column find_field(const struct evidence_field *fields,
                                       enum import_column_kind number_kind,
                                       enum import_column_kind text_kind, const char *heading)
{
    for (; fields->name != NULL; fields++)
        if (strcmp(fields->name, heading) == 0)
            return (struct import_column){ .kind = fields->size > 0 ? text_kind : number_kind,
                                           .offset = fields->offset,
                                           .size = fields->size,
                                           .scale = 1 };
    return (struct import_column){ .kind = IMPORT_COLUMN_UNKNOWN };
}

static struct import_column find_any_field(const char *heading)
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
            .is_bare_throughput = true,
        };
    if (strcmp(heading, "input_tokens") == 0 || strcmp(heading, "prompt_tokens") == 0)
        return (struct import_column){
            .kind = IMPORT_COLUMN_NUMBER,
            .offset = offsetof(struct evidence_cell, input_length),
            .scale = 1,
            .may_be_total = true,
        };
    rate = import_column_rate(heading);
    if (rate.kind != IMPORT_COLUMN_UNKNOWN)
        return rate;
    latency = import_column_latency(heading);
    return latency.kind == IMPORT_COLUMN_UNKNOWN && !latency.lacks_unit ? find_any_field(heading)
                                                                        : latency;
}
