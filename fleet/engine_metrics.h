/* SPDX-License-Identifier: Apache-2.0 */
/* A model server's own metrics, from any engine, under one set of names. */
#pragma once

#include <jansson.h>

#include "base/net/endpoint.h"
#include "store/series/scrapes.h"

/* How many positions of a speculative draft are counted; later positions are omitted. */
#define ENGINE_METRICS_POSITIONS 16

/* A figure that the server does not report is NaN. Counters are totals since the server's start. */
struct engine_metrics_snapshot {
    int64_t at_ms; /* when the server was scraped, in UTC */
    int64_t at_ns; /* the same time on the monotonic clock */
    double requests_running, requests_waiting;
    double kv_cache_use; /* the share of the KV cache that is in use, 0 to 1 */
    double prompt_tokens_total, generation_tokens_total, requests_total, preemptions_total;
    double prefix_queries_total; /* tokens looked up in the prefix cache */
    double prefix_hits_total;    /* tokens found in the prefix cache */
    double drafts_total, draft_tokens_total, accepted_tokens_total;
    double prefill_tokens_total; /* prompt tokens computed, without cached ones */
    double prefill_sum_s;        /* seconds spent computing these tokens */
    double ttft_sum_s, ttft_count;
    double itl_sum_s, itl_count;
    double e2e_sum_s, e2e_count;
    double queue_sum_s, queue_count;
    double process_start_s; /* UTC seconds; reveals a restart */
    /* counters of accepted draft tokens, by position in the draft, counted from 0 */
    double accepted_at[ENGINE_METRICS_POSITIONS];
    /* The next two are gauges that some servers report instead of draft counters. */
    double acceptance_length; /* mean number of tokens per step of speculative decoding */
    double acceptance_rate;   /* share of the draft tokens that were accepted */
    char model[256];          /* from the label model_name; "": no series has it */
};

/* Scrapes /metrics once, within 5 s. Recognizes the metrics of vLLM, SGLang, llama.cpp, TGI,
 * JetStream and Ollama's exporters. UPSTREAM if the page cannot be read or has no known series. */
CHECKED bool engine_metrics_scrape(const struct endpoint *endpoint,
                                   struct engine_metrics_snapshot *out, struct error *error);
/* Writes to `out` the figures that the server reported, except those by position and the acceptance
 * gauges, under the names of the snapshot's members. Returns their number, at most `capacity`. */
size_t engine_metrics_values(const struct engine_metrics_snapshot *snapshot,
                             struct scrape_value *out, size_t capacity);
/* Returns true if the figures show that another process answered the second time: a counter above 0
 * fell or disappeared, or the start time changed by more than 1 s. */
bool engine_metrics_has_restarted(const struct engine_metrics_snapshot *first,
                                  const struct engine_metrics_snapshot *last);
/* Returns how far a counter grew between two scrapes. If only the second scrape has the counter, it
 * grew from 0: servers create a counter, or one of its label sets, when they first increment it. */
double engine_metrics_growth(double first, double last);
/* Returns the growth of counters between two snapshots of one server, and figures derived from it:
 * tokens/s in and out, requests/s, mean TTFT, ITL, E2E and queue time over the interval, prefill
 * speed, prefix hit rate, acceptance length and rate. Returns only "seconds" and "restarted"
 * if the server restarted. New reference. */
json_t *engine_metrics_between(const struct engine_metrics_snapshot *first,
                               const struct engine_metrics_snapshot *last);
/* Returns the figures of engine_metrics_values as an object, with "at_ms". New reference. */
json_t *engine_metrics_to_json(const struct engine_metrics_snapshot *snapshot);
