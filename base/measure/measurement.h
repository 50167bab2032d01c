/* SPDX-License-Identifier: Apache-2.0 */
/* What one attempt at a cell measured. Tables of its fields define their JSON form, for reading and
 * writing, and explain them. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/stats/histogram.h"

/* Mean and quantiles of one metric, in milliseconds: of ICL and ITL over the chunks that arrived in
 * the window, of the others over the `attempted` requests that succeeded or were cut off. NaN:
 * there is no value. */
struct latency_summary {
    int64_t count, censored;
    double mean_ms, p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, min_ms, max_ms;
    /* Whether the percentile was cut off, by a timeout or by the cell's end: the true one is at
     * least the value above. */
    bool p50_censored, p90_censored, p95_censored, p99_censored, p999_censored;
};
void latency_summary_of(const struct histogram *histogram_ns, struct latency_summary *out);

/* Gaps between chunks (ICL) are what vLLM calls ITL; here ITL is the time between tokens: tokens
 * that were read together share the time since the tokens before them, and each of them counts. If
 * the server did not report how many tokens each chunk carried, ITL has values only if the answers
 * had one token per chunk by their usage. */
enum metric {
    METRIC_TTFT, /* to the first output of any channel: content, reasoning, tool call */
    METRIC_TTFO, /* to the first output that is not reasoning; none if no answer reasoned */
    METRIC_TTST, /* from the first to the second chunk; none if the first had several tokens */
    METRIC_ICL,
    METRIC_ITL,
    METRIC_TPOT, /* (last chunk - first chunk) / tokens after the first chunk */
    METRIC_E2E,
    /* Only in an open loop, where TTFT, TTFO and E2E count from the scheduled time: */
    METRIC_QUEUE,     /* from the scheduled time to sending */
    METRIC_TTFT_SENT, /* TTFT from sending */
    METRIC_E2E_SENT,  /* E2E from sending */
    METRIC_COUNT,
};
const char *metric_name(enum metric metric); /* "ttft", ... */

/* Most members are 0, false or NaN if the cell had no window. */
struct measurement {
    /* Seconds on the monotonic clock. The warm-up includes the probe, the drain lasts until the
     * cell's end. */
    double warmup_s, window_s, drain_s;
    int64_t window_start_ms; /* UTC */
    /* Half the width of the output throughput's 95 % confidence interval, divided by the
     * throughput; NaN: not known. */
    double throughput_ci;

    /* In a closed loop, requests that ended in the window; in an open loop, those due in it. If
     * there was no window, all requests that failed. */
    int64_t attempted, succeeded;
    int64_t failures[FAILURE_COUNT];
    int64_t finish_wrong, finish_missing, done_missing; /* of the successful ones */
    double success_rate;                                /* succeeded / attempted */
    /* In an open loop: requests without a complete answer when the cell ended (in no failure class,
     * and censored in the latencies), those of them that were not begun, and requests that had to
     * wait because the limit of requests in flight was reached. */
    int64_t unanswered, unsent, waited_for_room;
    /* In a closed loop: requests in flight during the whole window that failed or were cut off
     * after it. They are not attempted requests, but they are in the concurrency, and their chunks
     * in the output throughput. */
    int64_t held;
    double request_rate_asked, request_rate_scheduled, request_rate_sent; /* 0 in a closed loop */
    /* Of the requests due and not yet ended, per second; NaN: a closed loop, or not known. */
    double queue_growth;

    /* Requests in flight in the window: mean, fewest and most. */
    double concurrency_actual;
    int64_t concurrency_min, concurrency_max;
    double concurrency_expected; /* from the users and their think time; NaN: an open loop */
    double little_ratio; /* throughput x mean latency / concurrency_actual; 1 in a steady state */

    /* Tokens per request, requested and actual (by the server's usage; see tokens_estimated), and
     * their totals in the window. */
    int64_t input_tokens_requested, input_tokens_min, input_tokens_max;
    int64_t output_tokens_requested, output_tokens_min, output_tokens_max;
    double input_tokens_mean, output_tokens_mean;
    double input_tokens_requested_mean, output_tokens_requested_mean;
    int64_t input_tokens_requested_min, input_tokens_requested_max;
    int64_t output_tokens_requested_min, output_tokens_requested_max;
    /* How many requests had other lengths than requested; -1: some had, but were not counted. */
    int64_t input_tokens_differing, output_tokens_differing;
    int64_t input_tokens_difference_max, output_tokens_difference_max;
    int64_t lengths_cut, prompts_repeated; /* number of requests */
    int64_t prompts_left_out;              /* prompts of the dataset that cannot be sent */
    int64_t shared_tokens;                 /* input tokens that other requests share by design */
    int64_t cached_told;                   /* requests whose usage reports cached tokens */
    int64_t input_tokens, cached_tokens, output_tokens, chunks;
    double tokens_per_chunk, reasoning_tokens_mean; /* NaN: the server did not report it */
    /* Some or all answers lacked usage: their output is counted by chunks, their input is taken as
     * requested. */
    bool tokens_estimated;

    /* Rates over the window, per second: of successful requests, of their input tokens, of all
     * output tokens, and of successful requests within the plan's goodput limits. */
    double request_throughput, input_throughput, output_throughput, goodput;
    double output_throughput_deviation; /* standard deviation of one-second slices */
    /* TTFT of the probe, a single request before the warm-up: the first of this shape to this
     * deployment in the sweep, unless the probe was repeated, the cell is measured again, or cells
     * before it failed. NaN: there was no probe. */
    double cold_ttft_ms;

    /* The client: how late it handled events (bytes, timers), and sent what was due. */
    double lag_p50_ms, lag_mean_ms, lag_p99_ms, start_lag_mean_ms, start_lag_p99_ms;
    double cpu_percent;      /* of one core, used by its busiest thread */
    double cpu_wait_percent; /* of the window, in which its most delayed thread waited for a CPU */
    /* An estimate of the largest error of rates and mean latencies, as a share, because the client
     * was late. */
    double error_share;
    /* The stream chunks per second that the client's threads can read, by its calibration, and the
     * share of them that the cell used; 0: not known. */
    double ceiling_chunks_s, ceiling_share;
    /* Figures may be wrong: the client was late, or lacked CPU, descriptors, ports or memory. */
    bool client_limited;
    bool client_late;  /* the slowest percent of latencies may be lag_p99_ms too long */
    bool machine_busy; /* client_limited or client_late is due to other processes on this machine */

    bool contaminated; /* the server also worked for other clients */
    bool unsettled;    /* the warm-up ended at its limit, before the load had settled */
    bool overloaded;   /* the queue of an open loop grew */
    /* The server stalled, its speed changed or varied, or its metrics were missing for a while. */
    bool uneven;
    double silence_s; /* the longest time without a chunk while requests were in flight */

    /* Connections that were opened for the cell, from its first request to its last. NaN: none. */
    int64_t new_connections;
    double connect_p50_ms, connect_p99_ms, tls_p50_ms, tls_p99_ms;
    int64_t left_open; /* answers whose body did not end after [DONE] */
    /* Requests sent again because the server had closed the connection. */
    int64_t stale_connections;
    struct latency_summary latency[METRIC_COUNT];
    char first_error[512]; /* the message of the most frequent class of failure */
};

/* Whether stream chunks carry several tokens: the gaps between chunks are then not the gaps between
 * tokens. */
bool measurement_has_wide_chunks(const struct measurement *measurement);

/* One row per number or boolean in the struct, except `failures` and `latency`: its place in the
 * JSON, and its meaning. A NULL name ends the table. The name is that of the struct's member; the
 * group is the JSON object that contains it. */
enum measurement_type { MEASUREMENT_INTEGER = 1, MEASUREMENT_REAL, MEASUREMENT_BOOLEAN };
struct measurement_field {
    const char *group, *name;
    enum measurement_type type;
    size_t offset; /* into struct measurement: int64_t, double or bool */
    const char *help;
};
extern const struct measurement_field measurement_fields[];
/* The same for each metric of the group `latency`, with offsets into struct latency_summary. A
 * member such as p50_censored has the name "p50_at_least". */
extern const struct measurement_field latency_fields[];

/* Returns the measurement as JSON, in the groups window, requests, failures, load, connections,
 * tokens, rates, client, latency. NaN becomes null. `failures` has the classes that occurred.
 * `latency` has an object per metric that has values; "p99_at_least": true is added if the
 * percentile was cut off, so that the true one is at least "p99_ms" (likewise for p50, p90, p95,
 * p999). New reference. */
json_t *measurement_to_json(const struct measurement *measurement);
/* Reads what measurement_to_json wrote; missing members become zero or NaN. In a measurement
 * of an earlier version, ITL becomes ICL (and stays ITL, if each chunk was a token), and whether
 * lengths differed is derived from the shortest and the longest. */
void measurement_from_json(const json_t *json, struct measurement *out);
