/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured in one attempt at a cell (one combination of deployment, load and lengths).
 * Tables of the fields define how each is read from JSON and written to it, and what it means. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/stats/histogram.h"

/* Mean and quantiles of one metric, in milliseconds; NaN if there is no value. ICL and ITL cover
 * the chunks that arrived in the window; the other metrics cover the `attempted` requests that
 * succeeded or were cut off. */
struct latency_summary {
    int64_t count, censored;
    double mean_ms, p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, min_ms, max_ms;
    /* Whether the percentile is affected by requests that were cut off, by a timeout or by the
     * cell's end. The true percentile is then at least the value above. */
    bool p50_censored, p90_censored, p95_censored, p99_censored, p999_censored;
};
void latency_summary_of(const struct histogram *histogram_ns, struct latency_summary *out);

/* ICL is the gap between chunks, which vLLM calls ITL. Here, ITL is the gap between tokens: if
 * several tokens were read together, the time since the previous tokens is divided equally among
 * them, and each of them counts as one value. If the server did not report how many tokens each
 * chunk had, ITL has values only if, according to the answers' usage, each chunk had one token. */
enum metric {
    METRIC_TTFT, /* to the first output of any channel: content, reasoning, tool call */
    METRIC_TTFO, /* to the first output that is not reasoning; no values if no answer reasoned */
    METRIC_TTST, /* from the first to the second chunk, if the first had only one token */
    METRIC_ICL,
    METRIC_ITL,
    METRIC_TPOT, /* (last chunk - first chunk) / tokens after the first chunk */
    METRIC_E2E,
    /* Only in an open loop, where TTFT, TTFO and E2E are measured from the scheduled time: */
    METRIC_QUEUE,     /* from the scheduled time to sending */
    METRIC_TTFT_SENT, /* TTFT measured from sending */
    METRIC_E2E_SENT,  /* E2E measured from sending */
    METRIC_COUNT,
};
const char *metric_name(enum metric metric); /* "ttft", ... */

/* Most members are 0, false or NaN if the cell had no window. */
struct measurement {
    /* Seconds on the monotonic clock. The warm-up includes the probe, and the drain lasts until the
     * cell's end. */
    double warmup_s, window_s, drain_s;
    int64_t window_start_ms; /* UTC */
    /* Half the width of the output throughput's 95 % confidence interval, divided by the
     * throughput; NaN: not known. */
    double throughput_ci;

    /* In a closed loop, the requests that ended in the window; in an open loop, those that were due
     * in it. If there was no window, all requests that failed. */
    int64_t attempted, succeeded;
    int64_t failures[FAILURE_COUNT];
    int64_t finish_wrong, finish_missing, done_missing; /* among the successful requests */
    double success_rate;                                /* succeeded / attempted */
    /* In an open loop: requests that had no complete answer when the cell ended (they belong to no
     * failure class, and their latencies are censored); how many of them had not been started; and
     * requests that had to wait because the limit on requests in flight was reached. */
    int64_t unanswered, unsent, waited_for_room;
    /* In a closed loop: requests in flight during the whole window that failed or were cut off
     * after it. They are not included in `attempted`, but they count toward the concurrency, and
     * their chunks toward the output throughput. */
    int64_t held;
    double request_rate_asked, request_rate_scheduled, request_rate_sent; /* 0 in a closed loop */
    /* Growth, per second, of the number of requests that were due but had not ended; NaN in a
     * closed loop, or if it is not known. */
    double queue_growth;

    /* Requests in flight in the window: mean, minimum and maximum. */
    double concurrency_actual;
    int64_t concurrency_min, concurrency_max;
    double concurrency_expected; /* computed from users and think time; NaN in an open loop */
    double little_ratio; /* throughput x mean latency / concurrency_actual; 1 in a steady state */

    /* Tokens per request, both requested and actual (as the server's usage reports them; see
     * tokens_estimated), and the totals in the window. */
    int64_t input_tokens_requested, input_tokens_min, input_tokens_max;
    int64_t output_tokens_requested, output_tokens_min, output_tokens_max;
    double input_tokens_mean, output_tokens_mean;
    double input_tokens_requested_mean, output_tokens_requested_mean;
    int64_t input_tokens_requested_min, input_tokens_requested_max;
    int64_t output_tokens_requested_min, output_tokens_requested_max;
    /* How many requests had a length other than the requested one; -1: some did, but they were not
     * counted. */
    int64_t input_tokens_differing, output_tokens_differing;
    int64_t input_tokens_difference_max, output_tokens_difference_max;
    int64_t lengths_cut, prompts_repeated; /* numbers of requests */
    int64_t prompts_left_out;              /* dataset prompts that cannot be sent */
    int64_t shared_tokens;                 /* input tokens that other requests share by design */
    int64_t cached_told;                   /* requests whose usage reports cached tokens */
    int64_t input_tokens, cached_tokens, output_tokens, chunks;
    double tokens_per_chunk, reasoning_tokens_mean; /* NaN: the server did not report it */
    /* Some or all answers lacked usage: their output tokens are estimated from the number of
     * chunks, and their input is assumed to have the requested length. */
    bool tokens_estimated;

    /* Per second of the window: successful requests, their input tokens, all output tokens, and
     * successful requests that met the plan's goodput limits. */
    double request_throughput, input_throughput, output_throughput, goodput;
    double output_throughput_deviation; /* standard deviation of one-second slices */
    /* TTFT of the probe, a single request before the warm-up. It is the sweep's first request of
     * this shape to this deployment, unless the probe was repeated, the cell is being measured
     * again, or earlier cells failed. NaN: there was no probe. */
    double cold_ttft_ms;

    /* How late the client handled events (bytes, timers), and how late it sent requests that were
     * due (start_lag). */
    double lag_p50_ms, lag_mean_ms, lag_p99_ms, start_lag_mean_ms, start_lag_p99_ms;
    double cpu_percent;      /* of one core, used by the client's busiest thread */
    double cpu_wait_percent; /* of the window that the most delayed thread waited for a CPU */
    /* An estimate of the largest relative error in rates and mean latencies that the client's
     * delays can cause. */
    double error_share;
    /* How many stream chunks per second the client's threads can read, according to the
     * calibration, and what share of that the cell used; 0: not known. */
    double ceiling_chunks_s, ceiling_share;
    /* Figures may be wrong: the client was late, or lacked CPU, descriptors, ports or memory. */
    bool client_limited;
    bool client_late;  /* the slowest 1 % of latencies may be too long by lag_p99_ms */
    bool machine_busy; /* client_limited or client_late is due to other processes on this machine */

    bool contaminated; /* the server also worked for other clients */
    bool unsettled;    /* the warm-up ended at its limit, before the load had settled */
    bool overloaded;   /* the queue of an open loop grew */
    /* The server stalled, its speed changed or varied, or its metrics were missing for a while. */
    bool uneven;
    double silence_s; /* the longest time without a chunk while requests were in flight */

    /* Connections that were opened for the cell, from its first request to its last. The times are
     * NaN if there were none. */
    int64_t new_connections;
    double connect_p50_ms, connect_p99_ms, tls_p50_ms, tls_p99_ms;
    int64_t left_open; /* answers whose body did not end after [DONE] */
    /* Requests sent again because the server had closed the connection. */
    int64_t stale_connections;
    struct latency_summary latency[METRIC_COUNT];
    char first_error[512]; /* the first message in the most frequent class of failure */
};

/* Whether stream chunks carry several tokens, so that the gaps between chunks are not the gaps
 * between tokens. */
bool measurement_has_wide_chunks(const struct measurement *measurement);

/* One row for each number or boolean in struct measurement, except those in `failures` and
 * `latency`. `group` is the JSON object that contains the value, `name` is the name of the struct's
 * member, and `help` states its meaning. A row with a NULL name ends the table. */
enum measurement_type { MEASUREMENT_INTEGER = 1, MEASUREMENT_REAL, MEASUREMENT_BOOLEAN };
struct measurement_field {
    const char *group, *name;
    enum measurement_type type;
    size_t offset; /* into struct measurement: int64_t, double or bool */
    const char *help;
};
extern const struct measurement_field measurement_fields[];
/* The same for each metric in the group `latency`, with offsets into struct latency_summary. In
 * JSON, a member such as p50_censored is called "p50_at_least". */
extern const struct measurement_field latency_fields[];

/* Returns the measurement as JSON, in the groups window, requests, failures, load, connections,
 * tokens, rates, client, latency. NaN becomes null. `failures` has the classes that occurred.
 * `latency` has an object for each metric that has values. If p99_censored is set, the object
 * contains "p99_at_least": true (likewise for p50, p90, p95, p999). New reference. */
json_t *measurement_to_json(const struct measurement *measurement);
/* Reads what measurement_to_json wrote; missing members become zero or NaN. If an earlier version
 * wrote it, what that version called ITL is read as ICL (and also as ITL if each chunk was one
 * token), and whether lengths differed from the requested ones is derived from the shortest and the
 * longest. */
void measurement_from_json(const json_t *json, struct measurement *out);
