/* SPDX-License-Identifier: Apache-2.0 */
/* A model server's own metrics, from any engine, under one set of names. */
#pragma once

#include <jansson.h>

#include "base/net/endpoint.h"
#include "store/series/scrapes.h"

#define ENGINE_METRICS_POSITIONS 16 /* of drafted tokens; servers draft fewer */

/* Names are ours, snake case with unit; NaN: the server does not report it. Counters are totals
 * since the server's start. */
struct engine_metrics_snapshot {
    int64_t at_ms, at_ns;                                    /* UTC; monotonic */
    double requests_running, requests_waiting, kv_cache_use; /* kv 0..1 */
    double prompt_tokens_total, generation_tokens_total, requests_total, preemptions_total;
    double prefix_queries_total, prefix_hits_total; /* tokens */
    double drafts_total, draft_tokens_total, accepted_tokens_total;
    double prefill_tokens_total, prefill_sum_s; /* computed, not cached; over all prompts */
    double ttft_sum_s, ttft_count, itl_sum_s, itl_count, e2e_sum_s, e2e_count, queue_sum_s,
        queue_count;
    double process_start_s; /* UTC seconds; reveals a restart */
    double
        accepted_at[ENGINE_METRICS_POSITIONS]; /* counters: drafted tokens accepted, by position */
    double acceptance_length, acceptance_rate; /* gauges of servers that have no counters for them
                                                */
    char model[256];                           /* from the series' labels; "" */
};

/* Scrapes /metrics once; engine-specific names are mapped by a table (vLLM, SGLang, llama.cpp, TGI,
 * JetStream, exporters of Ollama). */
CHECKED bool engine_metrics_scrape(const struct endpoint *endpoint,
                                   struct engine_metrics_snapshot *out, struct error *error);
/* The same, also keeping every mapped series for the store: values are the snapshot's members under
 * our names. */
size_t engine_metrics_values(const struct engine_metrics_snapshot *snapshot,
                             struct scrape_value *out, size_t capacity);
/* Whether another process answered the second time: counters fell or disappeared, or its start time
 * changed. */
bool engine_metrics_has_restarted(const struct engine_metrics_snapshot *first,
                                  const struct engine_metrics_snapshot *last);
/* How far a counter grew between two scrapes. One that only the second scrape has started in
 * between, at 0: servers create a counter, or one of its label sets, when they first count with it.
 */
double engine_metrics_growth(double first, double last);
/* Rates and derived figures between two snapshots of one server: tokens/s in and out, requests/s,
 * mean TTFT, ITL, E2E and queue time of the interval, prefix hit rate, acceptance length and rate;
 * "restarted" if counters fell. */
json_t *engine_metrics_between(const struct engine_metrics_snapshot *first,
                               const struct engine_metrics_snapshot *last);
json_t *engine_metrics_to_json(const struct engine_metrics_snapshot *snapshot); /* nulls omitted */
