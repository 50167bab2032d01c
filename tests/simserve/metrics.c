/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simserve/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/formats/promtext.h"
#include "tests/simserve/prefix_cache.h"
#include "tests/simserve/server.h"

/* vLLM's bucket boundaries, in seconds; INFINITY ends each list. */
static const double ttft_limits[] = { 0.001, 0.005, 0.01, 0.02, 0.04, 0.06,  0.08,    0.1,
                                      0.25,  0.5,   0.75, 1.0,  2.5,  5.0,   7.5,     10.0,
                                      20.0,  40.0,  80.0, 160., 640., 2560., INFINITY };
static const double itl_limits[] = {
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,  0.3,  0.4,  0.5,
    0.75, 1.0,   2.5,  5.0,   7.5, 10.0, 20.0, 40.0, 80.0, INFINITY
};
static const double request_limits[] = { 0.3,  0.5,  0.8,  1.0,   1.5,   2.0,     2.5,  5.0,
                                         10.0, 15.0, 20.0, 30.0,  40.0,  50.0,    60.0, 120.0,
                                         240., 480., 960., 1920., 7680., INFINITY };

static void observe(struct metrics_histogram *histogram, const double *limits, int64_t ns)
{
    double seconds = (double)ns / 1e9;
    size_t bucket = 0;

    while (seconds > limits[bucket])
        bucket++;
    histogram->buckets[bucket]++;
    histogram->count++;
    histogram->sum += seconds;
}

void metrics_prompt(struct metrics *metrics, const struct truth_record *record, bool prefix_cache)
{
    observe(&metrics->queue, request_limits, record->admitted_ns - record->read_ns);
    if (!prefix_cache)
        return;
    metrics->prefix_queries += (uint64_t)record->prompt_tokens;
    metrics->prefix_hits += (uint64_t)record->cached_tokens;
}

/* As in vLLM, the prompt is counted when the first output token is produced. */
void metrics_first_token(struct metrics *metrics, const struct truth_record *record, int64_t now_ns)
{
    observe(&metrics->ttft, ttft_limits, now_ns - record->read_ns);
    metrics->prompt_tokens += (uint64_t)record->prompt_tokens;
    metrics->generation_tokens++;
}

int64_t metrics_draft_tokens(const struct config *config)
{
    if (config->draft_tokens > 0)
        return config->draft_tokens;
    return (int64_t)ceil(config->tokens_per_chunk_geometric ? 4 * config->tokens_per_chunk
                                                            : config->tokens_per_chunk - 1);
}

void metrics_step(struct metrics *metrics, const struct config *config, int64_t tokens,
                  int64_t gap_ns)
{
    observe(&metrics->itl, itl_limits, gap_ns);
    metrics->generation_tokens += (uint64_t)tokens;
    if (config->tokens_per_chunk <= 1)
        return;
    metrics->drafts++;
    metrics->draft_tokens += (uint64_t)metrics_draft_tokens(config);
    metrics->accepted_tokens += (uint64_t)tokens - 1;
    for (int64_t i = 0; i < tokens - 1 && i < METRICS_POSITIONS; i++)
        metrics->accepted_at[i]++;
}

void metrics_finished(struct metrics *metrics, const struct truth_record *record,
                      const char *finish_reason)
{
    if (record->admitted_ns == 0)
        return; /* the request never ran, and vLLM counts only requests that ran */
    if (record->outcome == OUTCOME_STREAM_ERROR) {
        metrics->finished_error++;
        return;
    }
    if (record->outcome != OUTCOME_OK) {
        metrics->finished_abort++;
        return;
    }
    observe(&metrics->e2e, request_limits, record->end_ns - record->read_ns);
    if (strcmp(finish_reason, "length") == 0)
        metrics->finished_length++;
    else
        metrics->finished_stop++;
}

struct writer {
    struct text *out;
    bool lazy;                          /* the setting lazy_counters */
    char labels[CONFIG_TEXT_SIZE + 64]; /* engine and model */
};

static void write_one(struct writer *writer, const char *name, enum promtext_type type,
                      const char *help, double value)
{
    promtext_family(writer->out, name, type, help);
    promtext_value(writer->out, name, writer->labels, value);
}

static void write_counter(struct writer *writer, const char *name, const char *help, uint64_t value)
{
    if (value > 0 || !writer->lazy)
        write_one(writer, name, PROMTEXT_COUNTER, help, (double)value);
}

/* Adds a sample, with one more label, to the metric family that was begun last. */
static void write_labelled(struct writer *writer, const char *name, const char *label,
                           const char *text, double value)
{
    char labels[sizeof writer->labels + 64];

    snprintf(labels, sizeof labels, "%s,%s=\"%s\"", writer->labels, label, text);
    promtext_value(writer->out, name, labels, value);
}

static void write_finished(struct writer *writer, const char *reason, uint64_t value)
{
    if (value > 0 || !writer->lazy)
        write_labelled(writer, "vllm:request_success_total", "finished_reason", reason,
                       (double)value);
}

static void write_histogram(struct writer *writer, const char *name, const char *help,
                            const struct metrics_histogram *histogram, const double *limits)
{
    uint64_t total = 0;
    char sample[96], limit[32];

    if (histogram->count == 0 && writer->lazy)
        return;
    promtext_family(writer->out, name, PROMTEXT_HISTOGRAM, help);
    snprintf(sample, sizeof sample, "%s_bucket", name);
    for (size_t i = 0; i == 0 || isfinite(limits[i - 1]); i++) {
        total += histogram->buckets[i];
        snprintf(limit, sizeof limit, isfinite(limits[i]) ? "%.12g" : "+Inf", limits[i]);
        write_labelled(writer, sample, "le", limit, (double)total);
    }
    snprintf(sample, sizeof sample, "%s_count", name);
    promtext_value(writer->out, sample, writer->labels, (double)histogram->count);
    snprintf(sample, sizeof sample, "%s_sum", name);
    promtext_value(writer->out, sample, writer->labels, histogram->sum);
}

static void write_state(struct writer *writer, const struct server *server)
{
    write_one(writer, "vllm:num_requests_running", PROMTEXT_GAUGE,
              "Number of requests in model execution batches.", server->model.running_count);
    write_one(writer, "vllm:num_requests_waiting", PROMTEXT_GAUGE,
              "Number of requests waiting to be processed.", server->model.waiting_count);
    write_one(writer, "vllm:kv_cache_usage_perc", PROMTEXT_GAUGE,
              "KV-cache usage. 1 means 100 percent usage.", model_kv_usage(server));
}

static void write_counters(struct writer *writer, const struct metrics *metrics)
{
    write_counter(writer, "vllm:prefix_cache_queries_total",
                  "Prefix cache queries, in terms of number of queried tokens.",
                  metrics->prefix_queries);
    write_counter(writer, "vllm:prefix_cache_hits_total",
                  "Prefix cache hits, in terms of number of cached tokens.", metrics->prefix_hits);
    write_counter(writer, "vllm:num_preemptions_total",
                  "Cumulative number of preemption from the engine.", 0);
    write_counter(writer, "vllm:prompt_tokens_total", "Number of prefill tokens processed.",
                  metrics->prompt_tokens);
    write_counter(writer, "vllm:generation_tokens_total", "Number of generation tokens processed.",
                  metrics->generation_tokens);
    promtext_family(writer->out, "vllm:request_success_total", PROMTEXT_COUNTER,
                    "Count of successfully processed requests.");
    write_finished(writer, "stop", metrics->finished_stop);
    write_finished(writer, "length", metrics->finished_length);
    write_finished(writer, "abort", metrics->finished_abort);
    write_finished(writer, "error", metrics->finished_error);
}

static void write_speculation(struct writer *writer, const struct metrics *metrics,
                              int64_t positions)
{
    static const char by_position[] = "vllm:spec_decode_num_accepted_tokens_per_pos_total";
    char position[24];

    write_counter(writer, "vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts.",
                  metrics->drafts);
    write_counter(writer, "vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens.",
                  metrics->draft_tokens);
    write_counter(writer, "vllm:spec_decode_num_accepted_tokens_total",
                  "Number of accepted tokens.", metrics->accepted_tokens);
    promtext_family(writer->out, by_position, PROMTEXT_COUNTER,
                    "Accepted tokens per draft position.");
    for (int64_t i = 0; i < positions && i < METRICS_POSITIONS; i++) {
        snprintf(position, sizeof position, "%d", (int)i);
        write_labelled(writer, by_position, "position", position, (double)metrics->accepted_at[i]);
    }
}

static void write_cache_info(struct writer *writer, const struct config *config)
{
    TEXT_AUTO labels = { 0 };

    promtext_family(writer->out, "vllm:cache_config_info", PROMTEXT_GAUGE,
                    "Information of the LLMEngine CacheConfig");
    text_addf(&labels,
              "block_size=\"%d\",cache_dtype=\"auto\",enable_prefix_caching=\"%s\",engine=\"0\","
              "gpu_memory_utilization=\"0.9\",num_gpu_blocks=\"%lld\"",
              BLOCK_TOKENS, config->prefix_cache ? "True" : "False", (long long)config->kv_blocks);
    promtext_value(writer->out, "vllm:cache_config_info", labels.data, 1);
}

void metrics_write(const struct server *server, struct text *out)
{
    const struct metrics *metrics = &server->metrics;
    struct writer writer = { .out = out, .lazy = server->config.lazy_counters };

    snprintf(writer.labels, sizeof writer.labels, "engine=\"0\",model_name=\"%s\"",
             server->config.model);
    write_state(&writer, server);
    write_counters(&writer, metrics);
    if (server->config.tokens_per_chunk > 1)
        write_speculation(&writer, metrics, metrics_draft_tokens(&server->config));
    write_histogram(&writer, "vllm:time_to_first_token_seconds",
                    "Histogram of time to first token in seconds.", &metrics->ttft, ttft_limits);
    write_histogram(&writer, "vllm:inter_token_latency_seconds",
                    "Histogram of inter-token latency in seconds.", &metrics->itl, itl_limits);
    write_histogram(&writer, "vllm:e2e_request_latency_seconds",
                    "Histogram of e2e request latency in seconds.", &metrics->e2e, request_limits);
    write_histogram(&writer, "vllm:request_queue_time_seconds",
                    "Histogram of time spent in WAITING phase for request.", &metrics->queue,
                    request_limits);
    write_cache_info(&writer, &server->config);
    promtext_family(out, "process_start_time_seconds", PROMTEXT_GAUGE,
                    "Start time of the process since unix epoch in seconds.");
    promtext_value(out, "process_start_time_seconds", NULL, (double)server->started_ms / 1000);
}
