/* SPDX-License-Identifier: Apache-2.0 */
#include "base/measure/measurement.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

#define ROW(group, kind, member, help)                                                             \
    {                                                                                              \
        group, #member, MEASUREMENT_##kind, offsetof(struct measurement, member), help             \
    }

const struct measurement_field measurement_fields[] = {
    ROW("window", REAL, warmup_s, "seconds before the window: probe and warm-up"),
    ROW("window", REAL, window_s, "seconds of the measured window"),
    ROW("window", REAL, drain_s, "seconds from the window's end to the cell's end"),
    ROW("window", INTEGER, window_start_ms, "when the window began, in UTC milliseconds"),
    ROW("window", BOOLEAN, unsettled,
        "the warm-up ended at its limit, before the load had settled"),
    ROW("window", REAL, throughput_ci,
        "half the width of the 95 % confidence interval of the output throughput, divided by that "
        "throughput: 0.03 means 3 %"),
    ROW("window", BOOLEAN, uneven,
        "the server stalled, its speed changed or varied, or its metrics were missing for a while"),
    ROW("window", REAL, silence_s,
        "longest time without a stream chunk while requests were in flight"),
    ROW("requests", INTEGER, attempted,
        "requests that ended in the window; open loop: requests due in it; if there was no window: "
        "all requests that failed"),
    ROW("requests", INTEGER, succeeded, "attempted requests with a complete and valid answer"),
    ROW("requests", REAL, success_rate, "succeeded / attempted"),
    ROW("requests", INTEGER, finish_wrong,
        "successful requests with finish reason stop, although all tokens came and the request did "
        "not allow an early stop"),
    ROW("requests", INTEGER, finish_missing,
        "successful requests with [DONE] but no finish reason"),
    ROW("requests", INTEGER, done_missing,
        "successful requests with a finish reason but no [DONE]"),
    ROW("requests", INTEGER, unanswered,
        "open loop: attempted requests without a complete answer when the cell ended; they are in "
        "no failure class"),
    ROW("requests", INTEGER, unsent, "open loop: unanswered requests that were never started"),
    ROW("requests", INTEGER, waited_for_room,
        "open loop: requests delayed because the limit on requests in flight was reached"),
    ROW("requests", INTEGER, held,
        "closed loop: requests in flight during the whole window that failed or were cut off after "
        "it; they do not count as attempted"),
    ROW("requests", INTEGER, stale_connections,
        "requests sent again on a new connection, because the server had closed the reused one"),
    ROW("requests", INTEGER, left_open,
        "answers whose body stayed open after [DONE]: the client stopped reading, and did not "
        "reuse the connection"),
    ROW("load", REAL, concurrency_actual, "average number of requests in flight in the window"),
    ROW("load", INTEGER, concurrency_min, "fewest requests in flight"),
    ROW("load", INTEGER, concurrency_max, "most requests in flight"),
    ROW("load", REAL, concurrency_expected,
        "what concurrency_actual should be: the average number of users who are not in their think "
        "time; null: open loop"),
    ROW("load", REAL, request_rate_asked,
        "open loop: the requested rate, in requests per second; 0 in a closed loop"),
    ROW("load", REAL, request_rate_scheduled,
        "open loop: requests per second scheduled in the window"),
    ROW("load", REAL, request_rate_sent, "open loop: requests per second sent in the window"),
    ROW("load", REAL, queue_growth,
        "open loop: growth of the queue (requests due and not yet ended) per second of the window"),
    ROW("load", BOOLEAN, overloaded, "open loop: the queue grew, so there was no steady state"),
    ROW("load", REAL, little_ratio,
        "throughput x mean latency / concurrency_actual: 1 in a steady state"),
    ROW("connections", INTEGER, new_connections,
        "connections opened for the cell and its warm-up; the time to connect is part of a latency "
        "only if an open loop measures that latency from the scheduled time"),
    ROW("connections", REAL, connect_p50_ms, "time to connect, without TLS, median"),
    ROW("connections", REAL, connect_p99_ms, "time to connect, without TLS, 99th percentile"),
    ROW("connections", REAL, tls_p50_ms, "TLS handshake, median; null: there was none"),
    ROW("connections", REAL, tls_p99_ms, "TLS handshake, 99th percentile; null: there was none"),
    ROW("tokens", INTEGER, input_tokens_requested,
        "input tokens per request, as planned: the length, or the mean of the distribution"),
    ROW("tokens", REAL, input_tokens_requested_mean,
        "successful requests: mean of the requested input tokens"),
    ROW("tokens", INTEGER, input_tokens_requested_min,
        "successful requests: fewest requested input tokens"),
    ROW("tokens", INTEGER, input_tokens_requested_max,
        "successful requests: most requested input tokens"),
    ROW("tokens", INTEGER, input_tokens_differing,
        "requests whose prompt did not have the requested length, by the server's usage; "
        "-1: there were some, but they were not counted"),
    ROW("tokens", INTEGER, input_tokens_difference_max,
        "largest difference between the actual and the requested length of a prompt"),
    ROW("tokens", INTEGER, input_tokens_min,
        "fewest input tokens in a request, by the server's usage"),
    ROW("tokens", INTEGER, input_tokens_max,
        "most input tokens in a request, by the server's usage"),
    ROW("tokens", REAL, input_tokens_mean, "mean input tokens per request, by the server's usage"),
    ROW("tokens", INTEGER, output_tokens_requested,
        "output tokens per request, as planned: the length, or the mean of the distribution"),
    ROW("tokens", REAL, output_tokens_requested_mean,
        "successful requests: mean of the requested output tokens"),
    ROW("tokens", INTEGER, output_tokens_requested_min,
        "successful requests: fewest requested output tokens"),
    ROW("tokens", INTEGER, output_tokens_requested_max,
        "successful requests: most requested output tokens"),
    ROW("tokens", INTEGER, output_tokens_differing,
        "successful requests whose answer did not have the requested length, by the server's "
        "usage; if answers were allowed to be shorter, only longer ones count; -1: there were "
        "some, but they were not counted"),
    ROW("tokens", INTEGER, output_tokens_difference_max,
        "largest difference between the actual and the requested length of an answer"),
    ROW("tokens", INTEGER, lengths_cut,
        "requests whose randomly drawn length was changed to fit the context or the shared prefix"),
    ROW("tokens", INTEGER, prompts_repeated,
        "requests with a dataset prompt that the server may have received before, and may have "
        "cached"),
    ROW("tokens", INTEGER, prompts_left_out,
        "prompts from the dataset that were not used: they exceed the context together with their "
        "answer, have no known length, or are too short"),
    ROW("tokens", INTEGER, shared_tokens, "input tokens in prefixes that requests share by design"),
    ROW("tokens", INTEGER, cached_told,
        "requests whose usage reports cached tokens; if this is 0, cached_tokens means nothing"),
    ROW("tokens", INTEGER, output_tokens_min, "fewest output tokens in an answer"),
    ROW("tokens", INTEGER, output_tokens_max, "most output tokens in an answer"),
    ROW("tokens", REAL, output_tokens_mean, "mean output tokens per request"),
    ROW("tokens", INTEGER, input_tokens, "input tokens of the successful requests"),
    ROW("tokens", INTEGER, cached_tokens, "input tokens that were in the server's prefix cache"),
    ROW("tokens", INTEGER, output_tokens, "output tokens that arrived in the window"),
    ROW("tokens", INTEGER, chunks, "stream chunks with output in the window"),
    ROW("tokens", REAL, tokens_per_chunk,
        "tokens per stream chunk; if it is above 1, as with speculative decoding, icl is not itl"),
    ROW("tokens", REAL, reasoning_tokens_mean,
        "reasoning tokens per request, by the server's usage"),
    ROW("tokens", BOOLEAN, tokens_estimated,
        "some or all answers lacked usage: their output is estimated from their chunks, and their "
        "input is taken to be as long as requested"),
    ROW("rates", REAL, request_throughput, "successful requests per second"),
    ROW("rates", REAL, input_throughput, "input tokens of successful requests per second"),
    ROW("rates", REAL, output_throughput, "output tokens per second"),
    ROW("rates", REAL, goodput,
        "successful requests per second that met the plan's goodput limits, if it has any"),
    ROW("rates", REAL, output_throughput_deviation,
        "standard deviation of the output throughput over one-second slices"),
    ROW("rates", REAL, cold_ttft_ms,
        "TTFT of the probe, a single request before the warm-up; null: there was no probe"),
    ROW("client", REAL, lag_p50_ms, "how late the client handled events (bytes, timers), median"),
    ROW("client", REAL, lag_mean_ms, "how late the client handled events, mean"),
    ROW("client", REAL, lag_p99_ms, "how late the client handled events, 99th percentile"),
    ROW("client", REAL, start_lag_mean_ms, "how late the client sent what was due, mean"),
    ROW("client", REAL, start_lag_p99_ms, "how late the client sent what was due, 99th percentile"),
    ROW("client", REAL, cpu_percent, "CPU use of the client's busiest thread; 100 is one core"),
    ROW("client", REAL, cpu_wait_percent,
        "percentage of the window in which the most delayed client thread waited for a CPU"),
    ROW("client", REAL, error_share,
        "estimate of the largest error that the client's lateness can have caused in rates and "
        "mean latencies: 0.01 means 1 %"),
    ROW("client", REAL, ceiling_chunks_s,
        "stream chunks per second that the client's threads could read when calibrated; 0: not "
        "known"),
    ROW("client", REAL, ceiling_share, "chunks per second in the window / ceiling_chunks_s"),
    ROW("client", BOOLEAN, client_limited,
        "the client was so late, or so short of CPU, descriptors, ports or memory, that the server "
        "may be faster than measured"),
    ROW("client", BOOLEAN, client_late,
        "the longest 1 % of the latencies may be too long by lag_p99_ms"),
    ROW("client", BOOLEAN, machine_busy,
        "client_limited or client_late is set because other processes used the client's machine"),
    ROW("load", BOOLEAN, contaminated,
        "the server's counters show that it also worked for other clients: see the cell's "
        "`witness`"),
    { 0 },
};

#define QUANTILE(name, help)                                                                       \
    { "latency", #name "_ms", MEASUREMENT_REAL, offsetof(struct latency_summary, name##_ms),       \
      help },                                                                                      \
    {                                                                                              \
        "latency", #name "_at_least", MEASUREMENT_BOOLEAN,                                         \
            offsetof(struct latency_summary, name##_censored),                                     \
            "only present if true: requests that were cut off affect this percentile; the true "   \
            "one may be larger"                                                                    \
    }
#define PLAIN(kind, member, help)                                                                  \
    {                                                                                              \
        "latency", #member, MEASUREMENT_##kind, offsetof(struct latency_summary, member), help     \
    }

const struct measurement_field latency_fields[] = {
    PLAIN(INTEGER, count, "number of values, including those cut off"),
    PLAIN(INTEGER, censored,
          "values cut off by a timeout or by the cell's end: the true ones are larger"),
    PLAIN(REAL, mean_ms, "arithmetic mean"),
    PLAIN(REAL, min_ms, "smallest"),
    QUANTILE(p50, "median"),
    QUANTILE(p90, "90th percentile"),
    QUANTILE(p95, "95th percentile"),
    QUANTILE(p99, "99th percentile"),
    QUANTILE(p999, "99.9th percentile"),
    PLAIN(REAL, max_ms, "largest"),
    { 0 },
};

const char *metric_name(enum metric metric)
{
    static const char *const names[METRIC_COUNT] = {
        [METRIC_TTFT] = "ttft",
        [METRIC_TTFO] = "ttfo",
        [METRIC_TTST] = "ttst",
        [METRIC_ICL] = "icl",
        [METRIC_ITL] = "itl",
        [METRIC_TPOT] = "tpot",
        [METRIC_E2E] = "e2e",
        [METRIC_QUEUE] = "queue",
        [METRIC_TTFT_SENT] = "ttft_from_send",
        [METRIC_E2E_SENT] = "e2e_from_send",
    };

    return names[metric];
}

bool measurement_has_wide_chunks(const struct measurement *measurement)
{
    return measurement->tokens_per_chunk > 1.02;
}

static double quantile_ms(const struct histogram *histogram, double q, bool *censored)
{
    return (double)histogram_quantile(histogram, q, censored) / 1e6;
}

static void forget_latency(struct latency_summary *out)
{
    *out = (struct latency_summary){ 0 };
    out->mean_ms = out->min_ms = out->max_ms = NAN;
    out->p50_ms = out->p90_ms = out->p95_ms = out->p99_ms = out->p999_ms = NAN;
}

void latency_summary_of(const struct histogram *histogram_ns, struct latency_summary *out)
{
    forget_latency(out);
    if (histogram_count(histogram_ns) == 0)
        return;
    out->count = (int64_t)histogram_count(histogram_ns);
    out->censored = (int64_t)histogram_censored(histogram_ns);
    out->mean_ms = histogram_mean(histogram_ns) / 1e6;
    out->min_ms = (double)histogram_min(histogram_ns) / 1e6;
    out->max_ms = (double)histogram_max(histogram_ns) / 1e6;
    out->p50_ms = quantile_ms(histogram_ns, 0.50, &out->p50_censored);
    out->p90_ms = quantile_ms(histogram_ns, 0.90, &out->p90_censored);
    out->p95_ms = quantile_ms(histogram_ns, 0.95, &out->p95_censored);
    out->p99_ms = quantile_ms(histogram_ns, 0.99, &out->p99_censored);
    out->p999_ms = quantile_ms(histogram_ns, 0.999, &out->p999_censored);
}

static json_t *field_to_json(const struct measurement_field *field, const void *base)
{
    const void *member = (const char *)base + field->offset;

    switch (field->type) {
    case MEASUREMENT_INTEGER:
        return json_integer(*(const int64_t *)member);
    case MEASUREMENT_REAL:
        return json_number_or_null(*(const double *)member);
    case MEASUREMENT_BOOLEAN:
        return json_boolean(*(const bool *)member);
    }
    assert(false); /* a row without a type */
    return NULL;
}

/* If the JSON lacks the member, an integer becomes 0, a real NaN, and a boolean false. */
static void field_from_json(const struct measurement_field *field, const json_t *object, void *base)
{
    void *member = (char *)base + field->offset;

    switch (field->type) {
    case MEASUREMENT_INTEGER:
        *(int64_t *)member = json_get_integer(object, field->name, 0);
        break;
    case MEASUREMENT_REAL:
        *(double *)member = json_get_number(object, field->name, NAN);
        break;
    case MEASUREMENT_BOOLEAN:
        *(bool *)member = json_get_boolean(object, field->name, false);
        break;
    }
}

static json_t *latency_to_json(const struct latency_summary *latency)
{
    json_t *object = json_object();

    for (const struct measurement_field *field = latency_fields; field->name != NULL; field++) {
        const void *member = (const char *)latency + field->offset;

        if (field->type != MEASUREMENT_BOOLEAN || *(const bool *)member)
            json_object_set_new(object, field->name, field_to_json(field, latency));
    }
    return object;
}

static void add_failures(json_t *json, const struct measurement *measurement)
{
    json_t *failures = json_object();

    for (int i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        if (measurement->failures[i] != 0)
            json_object_set_new(failures, failure_name((enum failure)i),
                                json_integer(measurement->failures[i]));
    json_object_set_new(json, "failures", failures);
    if (*measurement->first_error != '\0')
        json_object_set_new(json_object_get(json, "requests"), "first_error",
                            json_string(measurement->first_error));
}

json_t *measurement_to_json(const struct measurement *measurement)
{
    json_t *json = json_object();
    json_t *latency = json_object();

    for (const struct measurement_field *field = measurement_fields; field->name != NULL; field++) {
        json_t *group = json_object_get(json, field->group);

        if (group == NULL) {
            group = json_object();
            json_object_set_new(json, field->group, group);
        }
        json_object_set_new(group, field->name, field_to_json(field, measurement));
    }
    add_failures(json, measurement);
    for (int i = 0; i < METRIC_COUNT; i++)
        if (measurement->latency[i].count > 0)
            json_object_set_new(latency, metric_name((enum metric)i),
                                latency_to_json(&measurement->latency[i]));
    json_object_set_new(json, "latency", latency);
    return json;
}

/* ---- What earlier versions stored ------------------------------------------------------------ */

/* If tokens_per_chunk differs from 1 by less than this, each chunk counts as one token. */
#define SAME_SHARE 0.02

/* Earlier versions stored the gaps between chunks as "itl". These are gaps between tokens only if
 * each chunk is one token. */
static void read_old_gaps(struct measurement *out)
{
    bool is_counted = !out->tokens_estimated && out->chunks > 0;

    out->tokens_per_chunk = is_counted ? (double)out->output_tokens / (double)out->chunks : NAN;
    out->latency[METRIC_ICL] = out->latency[METRIC_ITL];
    if (!(fabs(out->tokens_per_chunk - 1) < SAME_SHARE))
        forget_latency(&out->latency[METRIC_ITL]);
}

static int64_t farthest(int64_t from, int64_t low, int64_t high)
{
    int64_t below = llabs(from - low), above = llabs(high - from);

    return below > above ? below : above;
}

/* In earlier versions, all requests in a cell asked for the same lengths, and the prompts and
 * answers of other lengths were not counted. */
static void read_old_lengths(struct measurement *out)
{
    out->input_tokens_requested_min = out->input_tokens_requested_max = out->input_tokens_requested;
    out->output_tokens_requested_min = out->output_tokens_requested_max =
        out->output_tokens_requested;
    out->input_tokens_requested_mean = (double)out->input_tokens_requested;
    out->output_tokens_requested_mean = (double)out->output_tokens_requested;
    if (out->tokens_estimated)
        return;
    if (out->input_tokens_max > 0)
        out->input_tokens_difference_max =
            farthest(out->input_tokens_requested, out->input_tokens_min, out->input_tokens_max);
    if (out->output_tokens_max > 0)
        out->output_tokens_difference_max =
            farthest(out->output_tokens_requested, out->output_tokens_min, out->output_tokens_max);
    out->input_tokens_differing = out->input_tokens_difference_max > 0 ? -1 : 0;
    out->output_tokens_differing = out->output_tokens_difference_max > 0 ? -1 : 0;
}

static void read_old(const json_t *tokens, struct measurement *out)
{
    if (tokens == NULL)
        return;
    if (json_object_get(tokens, "tokens_per_chunk") == NULL)
        read_old_gaps(out);
    if (json_object_get(tokens, "output_tokens_differing") == NULL)
        read_old_lengths(out);
}

void measurement_from_json(const json_t *json, struct measurement *out)
{
    const json_t *requests = json_object_get(json, "requests");
    const json_t *failures = json_object_get(json, "failures");
    const json_t *latency = json_object_get(json, "latency");

    *out = (struct measurement){ 0 };
    for (const struct measurement_field *field = measurement_fields; field->name != NULL; field++)
        field_from_json(field, json_object_get(json, field->group), out);
    for (int i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        out->failures[i] = json_get_integer(failures, failure_name((enum failure)i), 0);
    text_copy(out->first_error, sizeof out->first_error,
              json_get_text(requests, "first_error", ""));
    for (int i = 0; i < METRIC_COUNT; i++) {
        const json_t *object = json_object_get(latency, metric_name((enum metric)i));

        for (const struct measurement_field *field = latency_fields; field->name != NULL; field++)
            field_from_json(field, object, &out->latency[i]);
    }
    read_old(json_object_get(json, "tokens"), out);
}
