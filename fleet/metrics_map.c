/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/metrics_map.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/formats/promtext.h"

/* How samples with the same name but different labels (replica, reason, engine) become one
 * figure. */
enum fold {
    FOLD_SUM = 1,
    FOLD_MEAN, /* for shares and means: averaged over the samples */
    FOLD_MAX,
    FOLD_PLUS, /* the sum is added to the figure of an earlier row */
};

struct mapping {
    const char *name;
    enum fold fold;
    size_t offset;
};

/* clang-format off */
#define MEMBER(member) offsetof(struct engine_metrics_snapshot, member)
#define SUM(name, member) { name, FOLD_SUM, MEMBER(member) }
#define MEAN(name, member) { name, FOLD_MEAN, MEMBER(member) }
#define MAX(name, member) { name, FOLD_MAX, MEMBER(member) }
#define PLUS(name, member) { name, FOLD_PLUS, MEMBER(member) }
/* clang-format on */
/* Two rows: the sum and the count of a histogram or summary that measures seconds. */
#define TIMES(name, member) SUM(name "_sum", member##_sum_s), SUM(name "_count", member##_count)

/* If several rows give the same figure, the first row that the server reports is used, because some
 * versions report a figure under both an old and a new name. PLUS rows are added to that figure.
 * Names are recognized with and without the suffix _total. */
static const struct mapping mappings[] = {
    /* vLLM, also on TPU */
    SUM("vllm:num_requests_running", requests_running),
    SUM("vllm:num_requests_waiting", requests_waiting),
    MEAN("vllm:kv_cache_usage_perc", kv_cache_use),
    MEAN("vllm:gpu_cache_usage_perc", kv_cache_use),
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
    MEAN("vllm:spec_decode_draft_acceptance_rate", acceptance_rate), /* engine V0 only */
    TIMES("vllm:time_to_first_token_seconds", ttft),
    TIMES("vllm:inter_token_latency_seconds", itl),
    TIMES("vllm:time_per_output_token_seconds", itl),
    TIMES("vllm:e2e_request_latency_seconds", e2e),
    TIMES("vllm:request_queue_time_seconds", queue),

    /* SGLang: cached tokens are included in the prompt tokens */
    SUM("sglang:num_running_reqs", requests_running),
    SUM("sglang:num_queue_reqs", requests_waiting),
    MEAN("sglang:token_usage", kv_cache_use),
    SUM("sglang:prompt_tokens_total", prompt_tokens_total),
    SUM("sglang:generation_tokens_total", generation_tokens_total),
    SUM("sglang:num_requests_total", requests_total),
    SUM("sglang:prompt_tokens_total", prefix_queries_total),
    SUM("sglang:cached_tokens_total", prefix_hits_total),
    SUM("sglang:num_retracted_requests_total", preemptions_total),
    MEAN("sglang:spec_accept_length", acceptance_length),
    MEAN("sglang:spec_accept_rate", acceptance_rate),
    TIMES("sglang:time_to_first_token_seconds", ttft),
    TIMES("sglang:inter_token_latency_seconds", itl),
    TIMES("sglang:time_per_output_token_seconds", itl),
    TIMES("sglang:e2e_request_latency_seconds", e2e),
    TIMES("sglang:queue_time_seconds", queue),
    TIMES("sglang:request_queue_time_seconds", queue),

    /* llama.cpp: its prompt tokens do not include the cached ones; its time per token is the total
     * generation time divided by the generated tokens */
    SUM("llamacpp:requests_processing", requests_running),
    SUM("llamacpp:requests_deferred", requests_waiting),
    MEAN("llamacpp:kv_cache_usage_ratio", kv_cache_use),
    SUM("llamacpp:prompt_tokens_total", prompt_tokens_total),
    PLUS("llamacpp:prompt_tokens_cached_total", prompt_tokens_total),
    SUM("llamacpp:prompt_tokens_total", prefix_queries_total),
    PLUS("llamacpp:prompt_tokens_cached_total", prefix_queries_total),
    SUM("llamacpp:prompt_tokens_cached_total", prefix_hits_total),
    SUM("llamacpp:prompt_tokens_total", prefill_tokens_total),
    SUM("llamacpp:prompt_seconds_total", prefill_sum_s),
    SUM("llamacpp:tokens_predicted_total", generation_tokens_total),
    SUM("llamacpp:tokens_predicted_seconds_total", itl_sum_s),
    SUM("llamacpp:tokens_predicted_total", itl_count),
    SUM("llamacpp:spec_decode_num_drafts_total", drafts_total),
    SUM("llamacpp:spec_decode_num_draft_tokens_total", draft_tokens_total),
    SUM("llamacpp:spec_decode_num_accepted_tokens_total", accepted_tokens_total),

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
    MEAN("kv_cache_utilization_perc", kv_cache_use),
    SUM("jetstream_request_input_length_sum", prompt_tokens_total),
    SUM("jetstream_request_output_length_sum", generation_tokens_total),
    SUM("jetstream_request_success_count_total", requests_total),
    TIMES("jetstream_time_to_first_token", ttft),
    TIMES("jetstream_time_per_output_token", itl),
    TIMES("jetstream_time_per_request", e2e),
    TIMES("jetstream_queue_duration", queue),

    /* Ollama itself reports no metrics; its exporters use these names */
    SUM("ollama_active_requests", requests_running),
    SUM("ollama_queue_length", requests_waiting),
    SUM("ollama_tokens_processed_total", prompt_tokens_total),
    SUM("ollama_tokens_generated_total", generation_tokens_total),
    SUM("ollama_requests_total", requests_total),
    TIMES("ollama_response_seconds", e2e),

    /* Every process that uses a Prometheus client library */
    MAX("process_start_time_seconds", process_start_s),
};
#define MAPPING_COUNT (sizeof mappings / sizeof *mappings)

static const char by_position[] = "vllm:spec_decode_num_accepted_tokens_per_pos";

/* What has been computed so far from the samples that match one row. */
struct folded {
    double value;
    int64_t count; /* of samples; 0: the server reported none */
};

struct fold_state {
    struct folded exact[MAPPING_COUNT]; /* from samples with exactly the row's name */
    /* from samples whose name has a suffix _total that the row lacks, or the reverse */
    struct folded other[MAPPING_COUNT];
    struct engine_metrics_snapshot *out;
};

static double *member_of(struct engine_metrics_snapshot *snapshot, size_t offset)
{
    return (double *)(void *)((char *)snapshot + offset);
}

/* Ranks that compute a request together all report the same figures: only rank 0 is counted. */
static bool is_further_rank(const struct promtext_sample *sample)
{
    static const char *const ranks[] = { "tp_rank", "pp_rank" };
    char rank[16];

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (promtext_label(sample, ranks[i], rank, sizeof rank) && strcmp(rank, "0") != 0)
            return true;
    return false;
}

/* Returns the length of the name without the suffix _total. */
static size_t stem_length(const char *name, size_t length)
{
    return length > 6 && memcmp(name + length - 6, "_total", 6) == 0 ? length - 6 : length;
}

static bool equals(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static void fold(struct folded *folded, enum fold how, double value)
{
    assert(how != 0); /* 0: the row has no fold */
    if (folded->count++ == 0)
        folded->value = value;
    else if (how == FOLD_MAX)
        folded->value = fmax(folded->value, value);
    else
        folded->value += value;
}

static void fold_position(const struct promtext_sample *sample, struct engine_metrics_snapshot *out)
{
    char text[8], *end;
    unsigned long position;

    if (!equals(sample->name, stem_length(sample->name, sample->name_length), by_position,
                sizeof by_position - 1)
        || !promtext_label(sample, "position", text, sizeof text))
        return;
    position = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || position >= ENGINE_METRICS_POSITIONS)
        return;
    if (isnan(out->accepted_at[position]))
        out->accepted_at[position] = 0;
    out->accepted_at[position] += sample->value;
}

static void note_model(const struct promtext_sample *sample, struct engine_metrics_snapshot *out)
{
    if (out->model[0] == '\0'
        && !promtext_label(sample, "model_name", out->model, sizeof out->model))
        out->model[0] = '\0';
}

/* Skips NaN and infinity, which some servers report before their first request, and negative
 * values. */
static bool fold_sample(void *context, const struct promtext_sample *sample)
{
    struct fold_state *state = context;
    size_t length = stem_length(sample->name, sample->name_length);

    if (!isfinite(sample->value) || sample->value < 0)
        return true;
    for (size_t i = 0; i < MAPPING_COUNT; i++) {
        const char *name = mappings[i].name;
        size_t name_length = strlen(name);

        if (!equals(sample->name, length, name, stem_length(name, name_length))
            || is_further_rank(sample))
            continue;
        fold(name_length == sample->name_length ? &state->exact[i] : &state->other[i],
             mappings[i].fold, sample->value);
        note_model(sample, state->out);
    }
    fold_position(sample, state->out);
    return true;
}

static double figure_of(const struct folded *folded, enum fold how)
{
    if (folded->count == 0)
        return NAN;
    return how == FOLD_MEAN ? folded->value / (double)folded->count : folded->value;
}

void metrics_map_clear(struct engine_metrics_snapshot *out)
{
    *out = (struct engine_metrics_snapshot){ 0 };
    for (size_t i = 0; i < MAPPING_COUNT; i++)
        *member_of(out, mappings[i].offset) = NAN;
    for (size_t i = 0; i < ENGINE_METRICS_POSITIONS; i++)
        out->accepted_at[i] = NAN;
}

size_t metrics_map(const char *bytes, size_t length, struct engine_metrics_snapshot *out)
{
    struct fold_state state = { .out = out };
    size_t written = 0;

    promtext_read(bytes, length, fold_sample, &state, NULL);
    for (size_t i = 0; i < MAPPING_COUNT; i++) {
        double *member = member_of(out, mappings[i].offset);
        const struct folded *folded = state.exact[i].count > 0 ? &state.exact[i] : &state.other[i];
        double value = figure_of(folded, mappings[i].fold);

        if (mappings[i].fold == FOLD_PLUS && isfinite(value))
            *member += value;
        else if (isnan(*member) && isfinite(value)) {
            *member = value;
            written++;
        }
    }
    for (size_t i = 0; i < ENGINE_METRICS_POSITIONS; i++)
        if (!isfinite(out->accepted_at[i]))
            out->accepted_at[i] = NAN;
    if (out->kv_cache_use > 1) /* some servers report percent */
        out->kv_cache_use = fmin(out->kv_cache_use / 100, 1);
    if (isnan(out->prefix_hits_total))
        out->prefix_queries_total = NAN;
    return written;
}
