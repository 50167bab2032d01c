/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/engine_metrics.h"

#include <math.h>
#include <string.h>

#include "base/core/clock.h"
#include "fleet/metrics_map.h"

#define TIMEOUT_MS 5000

/* clang-format off */
#define GAUGE(member) { #member, offsetof(struct engine_metrics_snapshot, member), false }
#define COUNTER(member) { #member, offsetof(struct engine_metrics_snapshot, member), true }
/* clang-format on */

static const struct figure {
    const char *name;
    size_t offset;
    bool is_counter;
} figures[] = {
    GAUGE(requests_running),
    GAUGE(requests_waiting),
    GAUGE(kv_cache_use),
    COUNTER(prompt_tokens_total),
    COUNTER(generation_tokens_total),
    COUNTER(requests_total),
    COUNTER(preemptions_total),
    COUNTER(prefix_queries_total),
    COUNTER(prefix_hits_total),
    COUNTER(prefill_tokens_total),
    COUNTER(prefill_sum_s),
    COUNTER(drafts_total),
    COUNTER(draft_tokens_total),
    COUNTER(accepted_tokens_total),
    COUNTER(ttft_sum_s),
    COUNTER(ttft_count),
    COUNTER(itl_sum_s),
    COUNTER(itl_count),
    COUNTER(e2e_sum_s),
    COUNTER(e2e_count),
    COUNTER(queue_sum_s),
    COUNTER(queue_count),
    GAUGE(process_start_s),
};
#define FIGURE_COUNT (sizeof figures / sizeof *figures)

static double value_of(const struct engine_metrics_snapshot *snapshot, const struct figure *figure)
{
    double value;

    memcpy(&value, (const char *)snapshot + figure->offset, sizeof value);
    return value;
}

bool metrics_map_fetch_page(const struct small_request *ask, struct text *body,
                            struct engine_metrics_snapshot *out, struct error *error)
{
    struct engine_metrics_snapshot snapshot;
    enum failure ignored;
    struct error problem;

    if (!small_request_text(ask, "/metrics", body, &ignored, &problem))
        return error_set(error, ERROR_UPSTREAM, "the server's metrics cannot be read: %s",
                         problem.message);
    metrics_map_clear(&snapshot);
    snapshot.at_ms = clock_utc_ms();
    snapshot.at_ns = clock_monotonic_ns();
    if (metrics_map(text_string(body), body->length, &snapshot) == 0)
        return error_set(error, ERROR_UPSTREAM,
                         "/metrics answers, but has no metrics from a known engine (vLLM, "
                         "SGLang, llama.cpp, TGI, JetStream, Ollama's exporters)");
    *out = snapshot;
    return true;
}

bool metrics_map_fetch(const struct small_request *ask, struct engine_metrics_snapshot *out,
                       struct error *error)
{
    TEXT_AUTO body = { 0 };

    return metrics_map_fetch_page(ask, &body, out, error);
}

bool engine_metrics_scrape(const struct endpoint *endpoint, struct engine_metrics_snapshot *out,
                           struct error *error)
{
    const struct small_request ask = small_request_begin(endpoint, TIMEOUT_MS);

    return metrics_map_fetch(&ask, out, error);
}

size_t engine_metrics_values(const struct engine_metrics_snapshot *snapshot,
                             struct scrape_value *out, size_t capacity)
{
    size_t count = 0;

    for (size_t i = 0; i < FIGURE_COUNT && count < capacity; i++) {
        double value = value_of(snapshot, &figures[i]);

        if (!isnan(value))
            out[count++] =
                (struct scrape_value){ .name = figures[i].name,
                                       .labels = "",
                                       .type = figures[i].is_counter ? "counter" : "gauge",
                                       .value = value };
    }
    return count;
}

json_t *engine_metrics_to_json(const struct engine_metrics_snapshot *snapshot)
{
    json_t *out = json_object();

    json_object_set_new(out, "at_ms", json_integer(snapshot->at_ms));
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        double value = value_of(snapshot, &figures[i]);

        if (!isnan(value))
            json_object_set_new(out, figures[i].name, json_real(value));
    }
    return out;
}

/* ---- Between two snapshots ---- */

bool engine_metrics_has_restarted(const struct engine_metrics_snapshot *first,
                                  const struct engine_metrics_snapshot *last)
{
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        double before = value_of(first, &figures[i]), after = value_of(last, &figures[i]);

        if (figures[i].is_counter && before > 0 && !(after >= before))
            return true;
    }
    return fabs(last->process_start_s - first->process_start_s) > 1;
}

double engine_metrics_growth(double first, double last)
{
    return isnan(first) ? last : last - first;
}

/* Omits a figure that cannot be computed from the server's counters. */
static void set_number(json_t *object, const char *name, double value)
{
    if (isfinite(value))
        json_object_set_new(object, name, json_real(value));
}

json_t *engine_metrics_between(const struct engine_metrics_snapshot *first,
                               const struct engine_metrics_snapshot *last)
{
#define GROWTH(member) engine_metrics_growth(first->member, last->member)
#define MEAN_MS(member) (GROWTH(member##_sum_s) / GROWTH(member##_count) * 1000)
    double seconds = (double)(last->at_ns - first->at_ns) / 1e9;
    bool restarted = engine_metrics_has_restarted(first, last);
    json_t *out = json_object();

    set_number(out, "seconds", seconds);
    json_object_set_new(out, "restarted", json_boolean(restarted));
    if (restarted)
        return out;
    set_number(out, "requests", GROWTH(requests_total));
    set_number(out, "input_tokens", GROWTH(prompt_tokens_total));
    set_number(out, "output_tokens", GROWTH(generation_tokens_total));
    set_number(out, "preemptions", GROWTH(preemptions_total));
    set_number(out, "requests_per_s", GROWTH(requests_total) / seconds);
    set_number(out, "input_tokens_per_s", GROWTH(prompt_tokens_total) / seconds);
    set_number(out, "output_tokens_per_s", GROWTH(generation_tokens_total) / seconds);
    set_number(out, "mean_ttft_ms", MEAN_MS(ttft));
    set_number(out, "mean_itl_ms", MEAN_MS(itl));
    set_number(out, "mean_e2e_ms", MEAN_MS(e2e));
    set_number(out, "mean_queue_ms", MEAN_MS(queue));
    set_number(out, "prefill_tokens_per_s", GROWTH(prefill_tokens_total) / GROWTH(prefill_sum_s));
    /* GROWTH would be wrong here, because it treats a counter that the first snapshot lacks as 0:
     * metrics_map omits the queries until the server reports hits, and some queries may have come
     * before that. */
    set_number(out, "prefix_hit_rate",
               (last->prefix_hits_total - first->prefix_hits_total)
                   / (last->prefix_queries_total - first->prefix_queries_total));
    set_number(out, "acceptance_length", 1 + GROWTH(accepted_tokens_total) / GROWTH(drafts_total));
    set_number(out, "acceptance_rate", GROWTH(accepted_tokens_total) / GROWTH(draft_tokens_total));
    return out;
#undef GROWTH
#undef MEAN_MS
}
