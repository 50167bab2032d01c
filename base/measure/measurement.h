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
 * the chunks that arrived in the window. TTFO, TTST and TPOT cover the `attempted` requests that
 * succeeded, and the other metrics also those that a timeout or the cell's end cut off. */
struct latency_summary {
    int64_t count;    /* number of values, including the censored ones */
    int64_t censored; /* values that were cut off: the true ones are larger */
    double mean_ms, p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, min_ms, max_ms;
    /* Whether values that were cut off (by a timeout or the cell's end) affect the percentile. The
     * true percentile is then at least the value above. */
    bool p50_censored, p90_censored, p95_censored, p99_censored, p999_censored;
};
void latency_summary_of(const struct histogram *histogram_ns, struct latency_summary *out);

/* ICL is the gap between chunks, which vLLM calls ITL. Here, ITL is the gap between tokens: if
 * several tokens were read together, the time since the previous tokens is divided equally among
 * them, and each of them counts as one value. If the server did not report how many tokens each
 * chunk had, ITL has values only if the answers had one token per chunk on average, according to
 * their usage. TTFT, TTFO and E2E are measured from sending or, in an open loop, from the scheduled
 * time. */
enum metric {
    METRIC_TTFT, /* to the first output of any channel: content, reasoning, tool call */
    METRIC_TTFO, /* to the first output that is not reasoning; no values if no answer reasoned */
    METRIC_TTST, /* from the first to the second chunk, if the first had only one token */
    METRIC_ICL,
    METRIC_ITL,
    METRIC_TPOT, /* (last chunk - first chunk) / tokens after the first chunk */
    METRIC_E2E,  /* to the end of the answer */
    /* Only in an open loop: */
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
    int64_t attempted;
    int64_t succeeded;               /* attempted requests with a complete and valid answer */
    int64_t failures[FAILURE_COUNT]; /* requests that failed, by class of failure */
    /* Successful requests whose finish reason was "stop", although all tokens came and the request
     * did not allow an early stop. */
    int64_t finish_wrong;
    int64_t finish_missing; /* successful requests without a finish reason */
    int64_t done_missing;   /* successful requests without [DONE] */
    double success_rate;    /* succeeded / attempted */
    /* In an open loop: attempted requests that had no complete answer when the cell ended. They
     * belong to no failure class, and their latencies are censored. */
    int64_t unanswered;
    int64_t unsent; /* unanswered requests that had not been started */
    /* In an open loop: attempted requests that had to wait because the limit on requests in flight
     * was reached. */
    int64_t waited_for_room;
    /* In a closed loop: requests in flight during the whole window that failed or were cut off
     * after it. They are not included in `attempted`, but they count toward the concurrency, and
     * their chunks toward the output throughput. */
    int64_t held;
    /* Requests per second in an open loop; 0 in a closed loop. */
    double request_rate_asked;     /* the rate that was asked for */
    double request_rate_scheduled; /* requests that were due in the window */
    double request_rate_sent;      /* requests that were sent in the window */
    /* Growth, per second, of the number of requests that were due but had not ended; NaN in a
     * closed loop, or if it is not known. */
    double queue_growth;

    /* Requests in flight in the window: mean, minimum and maximum. */
    double concurrency_actual;
    int64_t concurrency_min, concurrency_max;
    /* What concurrency_actual should be: the mean number of users who were not in their think
     * time. NaN in an open loop. */
    double concurrency_expected;
    double little_ratio; /* throughput x mean latency / concurrency_actual; 1 in a steady state */

    /* Tokens per request. input_tokens_requested and output_tokens_requested: the planned length,
     * or the mean of the planned distribution. The members that add _mean, _min or _max to these
     * names describe the lengths that the successful requests asked for. The other members describe
     * the actual lengths of these requests, according to the server's usage (see
     * tokens_estimated). */
    int64_t input_tokens_requested, input_tokens_min, input_tokens_max;
    int64_t output_tokens_requested, output_tokens_min, output_tokens_max;
    double input_tokens_mean, output_tokens_mean;
    double input_tokens_requested_mean, output_tokens_requested_mean;
    int64_t input_tokens_requested_min, input_tokens_requested_max;
    int64_t output_tokens_requested_min, output_tokens_requested_max;
    /* How many successful requests had a length other than the requested one; -1: some did, but
     * they were not counted. An answer that was allowed to be shorter counts only if it was
     * longer. */
    int64_t input_tokens_differing, output_tokens_differing;
    /* The largest of these differences, in tokens. */
    int64_t input_tokens_difference_max, output_tokens_difference_max;
    int64_t lengths_cut; /* successful requests whose drawn length had to be changed */
    /* Successful requests whose dataset prompt may have been sent before. */
    int64_t prompts_repeated;
    int64_t prompts_left_out; /* dataset prompts not used: too long, too short, of unknown length */
    int64_t shared_tokens;    /* input tokens in prefixes that requests share by design */
    int64_t cached_told;      /* successful requests whose usage reports cached tokens */
    int64_t input_tokens;     /* total for the successful requests */
    int64_t cached_tokens;    /* how many of input_tokens came from the server's prefix cache */
    int64_t output_tokens;    /* total that arrived in the window */
    int64_t chunks;           /* stream chunks with output that arrived in the window */
    double tokens_per_chunk;  /* mean in the window; NaN: no answer reported its tokens */
    double reasoning_tokens_mean; /* over the answers that reported them; NaN: none did */
    /* Some or all answers lacked usage: their output tokens are estimated from the number of
     * chunks, and their input is assumed to have the requested length. */
    bool tokens_estimated;

    /* Per second of the window: */
    double request_throughput; /* successful requests that ended in it */
    double input_throughput;   /* input tokens of those requests */
    double output_throughput;  /* output tokens that arrived in it */
    double goodput; /* successful requests that ended in it, within the plan's goodput limits */
    /* Standard deviation of output_throughput over one-second slices; NaN: fewer than 2 slices. */
    double output_throughput_deviation;
    /* TTFT of the probe, a single request before the warm-up; NaN: there was no probe. The probe is
     * the sweep's first request of this shape to this deployment, with three exceptions: it was
     * repeated because it failed; the cell is measured again; or an earlier cell failed, after
     * which a cell can have a probe although its shape is not new. */
    double cold_ttft_ms;

    /* How late the client handled events (bytes, timers). */
    double lag_p50_ms, lag_mean_ms, lag_p99_ms;
    /* How late the client sent requests that were due. */
    double start_lag_mean_ms, start_lag_p99_ms;
    double cpu_percent; /* CPU use of the client's busiest thread; 100 is one core */
    /* The share of the window, in percent, that the client's most delayed thread spent waiting for
     * a CPU. */
    double cpu_wait_percent;
    /* An estimate of the largest relative error in rates and mean latencies that the client's
     * delays can cause; 0.01 is 1 %. */
    double error_share;
    /* How many stream chunks per second the client's threads can read, according to the
     * calibration; 0: not known. */
    double ceiling_chunks_s;
    double ceiling_share; /* chunks per second in the window / ceiling_chunks_s; 0: not known */
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

    /* Connections that were opened for the cell, from its first request to its last. */
    int64_t new_connections;
    double connect_p50_ms, connect_p99_ms; /* time to connect, without TLS; NaN: no connections */
    double tls_p50_ms, tls_p99_ms;         /* time for the TLS handshake; NaN: no handshakes */
    int64_t left_open;                     /* answers whose body did not end after [DONE] */
    /* Requests sent again because the server had closed the reused connection. */
    int64_t stale_connections;
    struct latency_summary latency[METRIC_COUNT];
    char first_error[512]; /* the first error message in the most frequent class of failure */
};

/* Whether stream chunks carry more than one token on average, so that the gaps between chunks are
 * not the gaps between tokens. */
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
/* Reads what measurement_to_json wrote; missing members become zero or NaN. Earlier versions wrote
 * ICL under the name ITL: it is read as ICL, and also as ITL if each chunk was one token. They did
 * not write whether actual lengths differed from the requested ones: this is derived from the
 * shortest and the longest actual length. */
void measurement_from_json(const json_t *json, struct measurement *out);
