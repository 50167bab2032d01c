/* SPDX-License-Identifier: Apache-2.0 */
/* What one attempt at a cell measured. The table of fields gives the JSON form, both ways, and its
 * documentation. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/stats/histogram.h"

/* Quantiles of one metric over the requests of the window; milliseconds. NaN: nothing to say. */
struct latency_summary {
    int64_t count, censored;
    double mean_ms, p50_ms, p90_ms, p95_ms, p99_ms, p999_ms, min_ms, max_ms;
    bool p50_censored, p90_censored, p95_censored, p99_censored,
        p999_censored; /* the true value is at least this */
};
void latency_summary_of(const struct histogram *histogram_ns, struct latency_summary *out);

/* Gaps between chunks (ICL) are what vLLM calls ITL; here ITL is between tokens: a chunk's gap
 * divided by its tokens, counted for each of them. It has no values where chunks carried several
 * tokens and the server did not tell how many. */
enum metric {
    METRIC_TTFT, /* to the first output of any channel: content, reasoning, tool call */
    METRIC_TTFO, /* to the first that is not reasoning; only where there was reasoning */
    METRIC_TTST, /* from the first to the second token */
    METRIC_ICL,
    METRIC_ITL,
    METRIC_TPOT, /* (last chunk - first chunk) / tokens behind those of the first chunk */
    METRIC_E2E,
    /* In an open loop TTFT, TTFO and E2E count from the time by the schedule. Beside them: */
    METRIC_QUEUE,     /* from the schedule to the send */
    METRIC_TTFT_SENT, /* from the send */
    METRIC_E2E_SENT,
    METRIC_COUNT,
};
const char *metric_name(enum metric metric); /* "ttft", ... */

struct measurement {
    /* The window: seconds on the monotonic clock. */
    double warmup_s, window_s, drain_s;
    int64_t window_start_ms; /* UTC */
    double throughput_ci;    /* of the output throughput: half of its 95 % interval / itself; NaN */
    /* Requests that ended in the window (or were begun and censored in it). */
    int64_t attempted, succeeded;
    int64_t failures[FAILURE_COUNT];
    int64_t finish_wrong, finish_missing, done_missing; /* of those that succeeded */
    double success_rate;                                /* succeeded / attempted */
    /* Of an open loop, where `attempted` are those due in the window: unanswered when the cell
     * ended (in no failure class, and censored in the latencies), unsent of those, and those that
     * had to wait because as many as allowed were in flight. */
    int64_t unanswered, unsent, waited_for_room;
    int64_t held; /* of a closed loop: sent before the window, never answered, in no other figure */
    double request_rate_asked, request_rate_scheduled, request_rate_sent; /* 0: a closed loop */
    double queue_growth; /* of the requests due and not yet ended, per second; NaN: a closed loop */
    /* Load: time average of requests in flight in the window; asked for is the cell's concurrency.
     */
    double concurrency_actual;
    int64_t concurrency_min, concurrency_max;
    double concurrency_expected; /* by the users and their think time; NaN: an open loop */
    double little_ratio; /* throughput x mean latency / concurrency_actual; 1 in a steady state */
    /* Tokens. Per request: requested and actual (by the server's usage). In the window: those that
     * arrived in it. */
    int64_t input_tokens_requested, input_tokens_min, input_tokens_max;
    int64_t output_tokens_requested, output_tokens_min, output_tokens_max;
    double input_tokens_mean, output_tokens_mean;
    double input_tokens_requested_mean, output_tokens_requested_mean;
    int64_t input_tokens_requested_min, input_tokens_requested_max;
    int64_t output_tokens_requested_min, output_tokens_requested_max;
    int64_t input_tokens_differing, output_tokens_differing; /* requests; -1: some, uncounted */
    int64_t input_tokens_difference_max, output_tokens_difference_max;
    int64_t lengths_cut, prompts_repeated; /* requests */
    int64_t prompts_left_out;              /* of the dataset */
    int64_t shared_tokens, cached_told;
    int64_t input_tokens, cached_tokens, output_tokens, chunks;
    double tokens_per_chunk, reasoning_tokens_mean; /* NaN: the server did not say */
    bool tokens_estimated; /* no usage from the server: counted from chunks */
    /* Rates over the window, per second. Goodput: successes only. */
    double request_throughput, input_throughput, output_throughput, goodput;
    double output_throughput_deviation; /* of one-second slices */
    /* The first request of this shape on this deployment in the sweep, before any warm-up; NaN if
     * none. */
    double cold_ttft_ms;
    /* The client: how late it handled what had arrived, how late it started what was due, CPU of
     * its thread(s). */
    double lag_p50_ms, lag_mean_ms, lag_p99_ms, start_lag_mean_ms, start_lag_p99_ms, cpu_percent;
    double cpu_wait_percent; /* its busiest waiter could have run and others did, of the window */
    double error_share; /* at most so far off are rates and mean latencies because it was late */
    double ceiling_chunks_s, ceiling_share; /* what the client's threads could read at most, when it
                                               was calibrated, and how much of it the cell took; 0:
                                               not known */
    bool client_limited;                    /* too far off, or the client had no CPU left */
    bool client_late;  /* the slowest percent of latencies may be lag_p99_ms too long */
    bool machine_busy; /* either, because others used this machine */
    bool contaminated; /* the server worked for others too, each time the cell was measured */
    /* No steady state: the warm-up ended at its limit before two windows agreed; the queue of an
     * open loop grew. */
    bool unsettled, overloaded;
    bool uneven;      /* it stalled or changed its pace in the middle, each time it was measured */
    double silence_s; /* the longest without a chunk while requests were in flight */
    /* Connections that were opened for the cell, from its first request to its last. NaN: none. */
    int64_t new_connections;
    double connect_p50_ms, connect_p99_ms, tls_p50_ms, tls_p99_ms;
    int64_t left_open;         /* answers whose body did not end behind [DONE] */
    int64_t stale_connections; /* reused connections that the server had closed; retried once on a
                                  fresh one */
    struct latency_summary latency[METRIC_COUNT];
    char first_error[512]; /* of the most frequent class: what the server said */
};

/* Stream chunks that carry several tokens: gaps between them are not those between tokens. */
bool measurement_has_wide_chunks(const struct measurement *measurement);

/* One row per number of the struct: its place in the JSON, and what it means. Ends with a NULL
 * name. Names repeat the struct's; the group is the JSON object they stand in. */
enum measurement_type { MEASUREMENT_INTEGER, MEASUREMENT_REAL, MEASUREMENT_BOOLEAN };
struct measurement_field {
    const char *group, *name;
    enum measurement_type type;
    size_t offset; /* into struct measurement: int64_t, double or bool */
    const char *help;
};
extern const struct measurement_field measurement_fields[];
/* The same for each metric of the group `latency`; offsets into struct latency_summary. */
extern const struct measurement_field latency_fields[];

/* The measurement as JSON: groups window, requests, failures, load, connections, tokens, rates,
 * client, latency. NaN is null. `failures` has the classes that occurred. `latency` has an object
 * per metric with values; "p99_at_least": true stands beside "p99_ms" where the percentile was cut
 * off by a timeout, so that the true one is at least that (likewise p50, p90, p95, p999), and is
 * missing otherwise. New reference. */
json_t *measurement_to_json(const struct measurement *measurement);
/* Reads what measurement_to_json wrote; members that are missing become zero or NaN. Of earlier
 * versions' writing, what they called ITL is ICL (and ITL too, where a chunk was a token), and what
 * their lengths tell of those that differed is told. */
void measurement_from_json(const json_t *json, struct measurement *out);
