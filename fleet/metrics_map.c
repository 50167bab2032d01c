#include "fleet/metrics_map.h"

#include <math.h>
#include <string.h>

#include "base/promtext.h"

/* How the samples of one name (a label set each: replicas, reasons, engines) become one figure. */
enum fold {
    FOLD_SUM,
    FOLD_MAX, /* of shares: requests wait as soon as one replica is full */
};

struct mapping {
    const char *name;
    enum fold fold;
    size_t offset;
};

/* clang-format off */
#define MEMBER(member) offsetof(struct metrics_snapshot, member)
#define SUM(name, member) { name, FOLD_SUM, MEMBER(member) }
#define MAX(name, member) { name, FOLD_MAX, MEMBER(member) }
/* clang-format on */
/* A histogram or summary in seconds. */
#define TIMES(name, member) SUM(name "_sum", member##_sum_s), SUM(name "_count", member##_count)

/* Where two rows tell the same figure, the first that the server has counts: versions of a time
 * have old and new names side by side. */
static const struct mapping mappings[] = {
    /* vLLM, also on TPU */
    SUM("vllm:num_requests_running", requests_running),
    SUM("vllm:num_requests_waiting", requests_waiting),
    MAX("vllm:kv_cache_usage_perc", kv_cache_use),
    MAX("vllm:gpu_cache_usage_perc", kv_cache_use),
    SUM("vllm:prompt_tokens_total", prompt_tokens_total),
    SUM("vllm:generation_tokens_total", generation_tokens_total),
    SUM("vllm:request_success_total", requests_total),
    SUM("vllm:num_preemptions_total", preemptions_total),
    SUM("vllm:prefix_cache_queries_total", prefix_queries_total),
    SUM("vllm:prefix_cache_hits_total", prefix_hits_total),
    SUM("vllm:gpu_prefix_cache_queries_total", prefix_queries_total),
    SUM("vllm:gpu_prefix_cache_hits_total", prefix_hits_total),
    SUM("vllm:spec_decode_num_drafts_total", drafts_total),
    SUM("vllm:spec_decode_num_draft_tokens_total", draft_tokens_total),
    SUM("vllm:spec_decode_num_accepted_tokens_total", accepted_tokens_total),
    TIMES("vllm:time_to_first_token_seconds", ttft),
    TIMES("vllm:inter_token_latency_seconds", itl),
    TIMES("vllm:time_per_output_token_seconds", itl),
    TIMES("vllm:e2e_request_latency_seconds", e2e),
    TIMES("vllm:request_queue_time_seconds", queue),

    /* SGLang: cached tokens are a part of the prompt tokens */
    SUM("sglang:num_running_reqs", requests_running),
    SUM("sglang:num_queue_reqs", requests_waiting),
    MAX("sglang:token_usage", kv_cache_use),
    SUM("sglang:prompt_tokens_total", prompt_tokens_total),
    SUM("sglang:generation_tokens_total", generation_tokens_total),
    SUM("sglang:num_requests_total", requests_total),
    SUM("sglang:prompt_tokens_total", prefix_queries_total),
    SUM("sglang:cached_tokens_total", prefix_hits_total),
    TIMES("sglang:time_to_first_token_seconds", ttft),
    TIMES("sglang:inter_token_latency_seconds", itl),
    TIMES("sglang:time_per_output_token_seconds", itl),
    TIMES("sglang:e2e_request_latency_seconds", e2e),
    TIMES("sglang:queue_time_seconds", queue),

    /* llama.cpp: generation time of all requests together, over the tokens they got */
    SUM("llamacpp:requests_processing", requests_running),
    SUM("llamacpp:requests_deferred", requests_waiting),
    MAX("llamacpp:kv_cache_usage_ratio", kv_cache_use),
    SUM("llamacpp:prompt_tokens_total", prompt_tokens_total),
    SUM("llamacpp:tokens_predicted_total", generation_tokens_total),
    SUM("llamacpp:tokens_predicted_seconds_total", itl_sum_s),
    SUM("llamacpp:tokens_predicted_total", itl_count),

    /* TGI: its time per token is a mean per request */
    SUM("tgi_batch_current_size", requests_running),
    SUM("tgi_queue_size", requests_waiting),
    SUM("tgi_request_input_length_sum", prompt_tokens_total),
    SUM("tgi_request_generated_tokens_sum", generation_tokens_total),
    SUM("tgi_request_success", requests_total),
    TIMES("tgi_request_mean_time_per_token_duration", itl),
    TIMES("tgi_request_duration", e2e),
    TIMES("tgi_request_queue_duration", queue),

    /* JetStream */
    SUM("jetstream_prefill_backlog_size", requests_waiting),
    SUM("num_requests_waiting", requests_waiting),
    MAX("kv_cache_utilization_perc", kv_cache_use),
    SUM("jetstream_request_input_length_sum", prompt_tokens_total),
    SUM("jetstream_request_output_length_sum", generation_tokens_total),
    SUM("jetstream_request_success_count_total", requests_total),
    TIMES("jetstream_time_to_first_token", ttft),
    TIMES("jetstream_time_per_output_token", itl),
    TIMES("jetstream_time_per_request", e2e),
    TIMES("jetstream_queue_duration", queue),

    /* Every process whose metrics come from a Prometheus client library */
    MAX("process_start_time_seconds", process_start_s),
};
#define MAPPING_COUNT (sizeof mappings / sizeof *mappings)

struct fold_state {
    double values[MAPPING_COUNT]; /* NaN: not seen */
};

static double *member_of(struct metrics_snapshot *snapshot, size_t offset)
{
    return (double *)(void *)((char *)snapshot + offset);
}

/* Ranks of one replica that share its requests tell the same figures again. */
static bool is_further_rank(const struct prom_sample *sample)
{
    static const char *const ranks[] = { "tp_rank", "pp_rank" };
    char rank[16];

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (prom_label(sample, ranks[i], rank, sizeof rank) && strcmp(rank, "0") != 0)
            return true;
    return false;
}

static bool has_name(const struct prom_sample *sample, const char *name)
{
    return strlen(name) == sample->name_length
           && memcmp(name, sample->name, sample->name_length) == 0;
}

/* Before their first request servers say NaN, some say inf; neither tells anything. */
static bool fold_sample(void *context, const struct prom_sample *sample)
{
    struct fold_state *state = context;

    if (!isfinite(sample->value) || sample->value < 0)
        return true;
    for (size_t i = 0; i < MAPPING_COUNT; i++) {
        double *value = &state->values[i];

        if (!has_name(sample, mappings[i].name) || is_further_rank(sample))
            continue;
        if (isnan(*value))
            *value = sample->value;
        else if (mappings[i].fold == FOLD_SUM)
            *value += sample->value;
        else
            *value = fmax(*value, sample->value);
    }
    return true;
}

void metrics_clear(struct metrics_snapshot *out)
{
    *out = (struct metrics_snapshot){ 0 };
    for (size_t i = 0; i < MAPPING_COUNT; i++)
        *member_of(out, mappings[i].offset) = NAN;
}

size_t metrics_map(const char *bytes, size_t length, struct metrics_snapshot *out)
{
    struct fold_state state;
    size_t told = 0;

    for (size_t i = 0; i < MAPPING_COUNT; i++)
        state.values[i] = NAN;
    prom_read(bytes, length, fold_sample, &state, NULL);
    for (size_t i = 0; i < MAPPING_COUNT; i++) {
        double *member = member_of(out, mappings[i].offset);

        if (isnan(*member) && !isnan(state.values[i])) {
            *member = state.values[i];
            told++;
        }
    }
    if (out->kv_cache_use > 1) /* some say percent */
        out->kv_cache_use = fmin(out->kv_cache_use / 100, 1);
    if (isnan(out->prefix_hits_total))
        out->prefix_queries_total = NAN;
    return told;
}
