/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/monitor_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"

#define FOREIGN_SCRAPES 3 /* an average over fewer scrapes is not reliable */
/* Other clients are using the server if it has, on average, more than
 * FOREIGN_FACTOR * (the most requests that we had open at once) + FOREIGN_MARGIN requests. */
#define FOREIGN_FACTOR 1.05
#define FOREIGN_MARGIN 1.0 /* a request that has just ended may still be counted as running */

/* The report while it is being made. */
struct reporting {
    const struct monitor_observations *observations;
    const struct cell_result *result;
    struct reconciliation counts;
    const char *state; /* how complete the check is: full, partial or absent */
    char why[256];     /* why the check is not full; "" if it is, or if that is not known */
    struct cross_check *out;
};

/* ---- The verdict ----------------------------------------------------------------------------- */

static bool had_failures(const struct cell_result *result)
{
    return result->state == CELL_FAILED || result->measurement.success_rate < 1;
}

static void set_verdict(struct reporting *reporting, enum cross_check_verdict verdict,
                        const char *sentence)
{
    reporting->out->verdict = verdict;
    text_copy(reporting->out->reason, sizeof reporting->out->reason, sentence);
}

static void set_state(struct reporting *reporting, const char *state, const char *why)
{
    reporting->state = state;
    text_copy(reporting->why, sizeof reporting->why, why);
}

static bool differ(const char *a, const char *b)
{
    return a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0;
}

/* If the model changed during the attempt, sets the verdict and returns true. */
static bool judge_model(struct reporting *reporting)
{
    const struct monitor_observations *observations = reporting->observations;
    const char *from = observations->served_first, *to = observations->served_last;
    char sentence[256];

    if (!differ(from, to)) {
        from = observations->log.first.model;
        to = observations->log.instances.latest.model;
    }
    if (!differ(from, to))
        return false;
    snprintf(sentence, sizeof sentence,
             "the model changed during the measurement: %.90s, then %.90s", from, to);
    set_verdict(reporting, CROSS_CHECK_OTHER_MODEL, sentence);
    set_state(reporting, "partial", sentence);
    return true;
}

/* Called when the server's metrics were available before the first request but not after the last
 * one, or when the wait for the server to become idle again was cancelled. */
static void judge_silence(struct reporting *reporting)
{
    char sentence[256];

    if (had_failures(reporting->result)) {
        snprintf(sentence, sizeof sentence,
                 "the server stopped answering during the measurement: %.200s",
                 reporting->observations->scrape_problem);
        set_verdict(reporting, CROSS_CHECK_RESTARTED, sentence);
        set_state(reporting, "partial", sentence);
        return;
    }
    set_state(reporting, "absent", reporting->observations->scrape_problem);
}

static int64_t window_end_ms(const struct measurement *measurement)
{
    return measurement->window_start_ms + (int64_t)(measurement->window_s * 1000);
}

static bool find_window(const struct reporting *reporting,
                        const struct engine_metrics_snapshot **first,
                        const struct engine_metrics_snapshot **last)
{
    const struct measurement *measurement = &reporting->result->measurement;

    return measurement->window_s > 0
           && monitor_log_within(&reporting->observations->log, measurement->window_start_ms,
                                 window_end_ms(measurement), first, last);
}

/* Returns how many requests were running or waiting on the server, averaged over the window; NaN if
 * there are too few scrapes, or if the server does not report how many are running. */
static double mean_present(const struct reporting *reporting)
{
    const struct engine_metrics_snapshot *first, *last;
    double sum = 0;

    if (!find_window(reporting, &first, &last) || last - first + 1 < FOREIGN_SCRAPES)
        return NAN;
    for (const struct engine_metrics_snapshot *row = first; row <= last; row++)
        sum += row->requests_running + (isnan(row->requests_waiting) ? 0 : row->requests_waiting);
    return sum / (double)(last - first + 1);
}

/* Returns true if the server had clearly more requests on average than we ever had open at once.
 * Returns false if one of ours failed, because it may still be running on the server. This test
 * matters most if many of our requests were cut off at the end: what the server counted in excess
 * may then belong to them. */
static bool is_foreign_load(const struct reporting *reporting)
{
    double ours = (double)reporting->result->measurement.concurrency_max;

    return !had_failures(reporting->result)
           && mean_present(reporting) > FOREIGN_FACTOR * ours + FOREIGN_MARGIN;
}

static void judge_foreign(struct reporting *reporting)
{
    TEXT_AUTO sentence = { 0 };

    text_add(&sentence, "the server also worked for other clients: ");
    if (reporting->counts.has_foreign) {
        text_add(&sentence, "it counted ");
        reconcile_describe(&reporting->counts, &sentence);
        text_add(&sentence, " more than were sent");
    } else if (is_foreign_load(reporting)) {
        text_addf(&sentence,
                  "on average %.1f requests were running or waiting there, but opsbrain never "
                  "had more than %" PRId64 " open",
                  mean_present(reporting), reporting->result->measurement.concurrency_max);
    } else {
        text_addf(&sentence, "it did not become idle in time %s",
                  reporting->observations->begin == POINT_BUSY ? "before the first request"
                                                               : "after the last request");
    }
    set_verdict(reporting, CROSS_CHECK_CONTAMINATED, text_string(&sentence));
}

static void judge_counts(struct reporting *reporting)
{
    const struct monitor_observations *observations = reporting->observations;
    bool has_foreign = reporting->counts.has_foreign || is_foreign_load(reporting)
                       || observations->begin == POINT_BUSY || observations->end == POINT_BUSY;

    if (observations->instances > 1 && observations->counted < observations->instances
        && (has_foreign || reporting->counts.is_shortfall))
        set_state(
            reporting, "partial",
            "the deployment has several instances, and the counters do not cover all of them");
    else if (has_foreign)
        judge_foreign(reporting);
    else if (reporting->counts.is_shortfall)
        set_state(
            reporting, "partial",
            "the server counted far less than it answered: there may be several instances behind "
            "one address, or the metrics are those of another server");
}

static void judge(struct reporting *reporting)
{
    const struct monitor_observations *observations = reporting->observations;

    if (judge_model(reporting))
        return;
    if (observations->begin == POINT_SILENT || observations->begin == POINT_STOPPED)
        set_state(reporting, "absent", observations->scrape_problem);
    else if (replicas_are_several(&observations->log.instances) && observations->counted == 0)
        set_state(reporting, "partial",
                  "several instances answer in turn: their counters do not cover all requests");
    else if (observations->end == POINT_SILENT || observations->end == POINT_STOPPED)
        judge_silence(reporting);
    else if (replicas_have_restarted(&observations->log.instances)) {
        set_verdict(
            reporting, CROSS_CHECK_RESTARTED,
            "the server restarted during the measurement: its counters started again at zero");
        set_state(reporting, "partial", reporting->out->reason);
    } else
        judge_counts(reporting);
}

/* ---- The figures ----------------------------------------------------------------------------- */

static void set_number(json_t *object, const char *name, double value)
{
    if (isfinite(value))
        json_object_set_new(object, name, json_number_or_null(value));
}

struct gauge {
    const char *mean_name, *max_name;
    size_t offset;
};

/* clang-format off */
#define GAUGE(member) \
    { #member "_mean", #member "_max", offsetof(struct engine_metrics_snapshot, member) }
/* clang-format on */
static const struct gauge gauges[] = {
    GAUGE(requests_running),
    GAUGE(requests_waiting),
    GAUGE(kv_cache_use),
};

static double value_at(const struct engine_metrics_snapshot *row, size_t offset)
{
    return *(const double *)(const void *)((const char *)row + offset);
}

/* Adds the gauge's mean and maximum over the scrapes from `first` to `last`. */
static void add_gauge(const struct gauge *gauge, const struct engine_metrics_snapshot *first,
                      const struct engine_metrics_snapshot *last, json_t *out)
{
    double sum = 0, most = -INFINITY;
    int64_t count = 0;

    for (const struct engine_metrics_snapshot *row = first; row <= last; row++) {
        double value = value_at(row, gauge->offset);

        if (isnan(value))
            continue;
        sum += value;
        most = fmax(most, value);
        count++;
    }
    set_number(out, gauge->mean_name, sum / (double)count);
    set_number(out, gauge->max_name, most);
}

static void add_speculation(const struct engine_metrics_snapshot *first,
                            const struct engine_metrics_snapshot *last, json_t *out)
{
    double drafts = engine_metrics_growth(first->drafts_total, last->drafts_total);
    json_t *positions = json_array();

    set_number(out, "drafts", drafts);
    set_number(out, "drafted_tokens",
               engine_metrics_growth(first->draft_tokens_total, last->draft_tokens_total));
    set_number(out, "accepted_tokens",
               engine_metrics_growth(first->accepted_tokens_total, last->accepted_tokens_total));
    /* some servers report these two as gauges instead of counters */
    if (json_object_get(out, "acceptance_length") == NULL)
        set_number(out, "acceptance_length", last->acceptance_length);
    if (json_object_get(out, "acceptance_rate") == NULL)
        set_number(out, "acceptance_rate", last->acceptance_rate);
    for (size_t i = 0; i < ENGINE_METRICS_POSITIONS; i++) {
        double accepted = engine_metrics_growth(first->accepted_at[i], last->accepted_at[i]);

        if (!isfinite(accepted / drafts))
            break;
        json_array_append_new(positions, json_number_or_null(accepted / drafts));
    }
    if (json_array_size(positions) > 0)
        json_object_set(out, "acceptance_by_position", positions);
    json_decref(positions);
}

/* Adds by how much the client's latencies exceed the server's: the time spent in the network and in
 * the client. */
static void add_differences(const struct reporting *reporting, json_t *out)
{
    static const struct {
        const char *server, *name;
        enum metric metric;
    } pairs[] = {
        { "mean_ttft_ms", "client_more_ttft_ms", METRIC_TTFT },
        /* The client's time between chunks is compared, not that between tokens: most servers
         * measure the time per decoding step, and each step sends one chunk. */
        { "mean_itl_ms", "client_more_itl_ms", METRIC_ICL },
        { "mean_e2e_ms", "client_more_e2e_ms", METRIC_E2E },
    };
    const struct latency_summary *latency = reporting->result->measurement.latency;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (latency[pairs[i].metric].count > 0)
            set_number(out, pairs[i].name,
                       latency[pairs[i].metric].mean_ms
                           - json_get_number(out, pairs[i].server, NAN));
}

/* Derives the figures from the scrapes within the window or, if it has fewer than two, from all
 * those of the attempt. */
static json_t *derive_figures(const struct reporting *reporting)
{
    const struct monitor_observations *observations = reporting->observations;
    const struct engine_metrics_snapshot *first, *last;
    bool in_window = find_window(reporting, &first, &last);
    json_t *out;

    if (!in_window && !monitor_log_within(&observations->log, 0, INT64_MAX, &first, &last))
        return json_object();
    out = engine_metrics_between(first, last);
    json_object_set_new(out, "of", json_string(in_window ? "window" : "attempt"));
    json_object_set_new(out, "scrapes", json_integer(last - first + 1));
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        add_gauge(&gauges[i], first, last, out);
    add_speculation(first, last, out);
    add_differences(reporting, out);
    return out;
}

/* Returns an empty object if there were no scrapes, or if counters fell (because of a restart, or
 * because several instances answer in turn): differences between counters then mean nothing. */
static json_t *figures(const struct reporting *reporting)
{
    const struct monitor_log *log = &reporting->observations->log;

    if (log->instances.scrapes == 0 || log->instances.falls > 0)
        return json_object();
    return derive_figures(reporting);
}

static char *write_json(const struct reporting *reporting)
{
    const struct cross_check *out = reporting->out;
    json_auto_t *json = json_pack("{s:s}", "state", reporting->state), *more = figures(reporting);

    if (reporting->why[0] != '\0')
        json_object_set_new(json, "why", json_string(reporting->why));
    if (out->reason[0] != '\0')
        json_object_set_new(json, "finding", json_string(out->reason));
    json_object_set_new(json, "contaminated",
                        json_boolean(out->verdict == CROSS_CHECK_CONTAMINATED));
    json_object_update(json, more);
    json_object_set_new(json, "restarted", json_boolean(out->verdict == CROSS_CHECK_RESTARTED));
    if (reporting->observations->counted > 0)
        json_object_set_new(json, "instances", json_integer(reporting->observations->counted));
    if (out->served[0] != '\0')
        json_object_set_new(json, "model", json_string(out->served));
    if (strcmp(reporting->state, "full") == 0)
        json_object_set_new(json, "counts", reconcile_to_json(&reporting->counts));
    return json_write(json);
}

void monitor_report_write(const struct monitor_observations *observations,
                          const struct cell_result *result, struct cross_check *out)
{
    struct reporting reporting = {
        .observations = observations, .result = result, .state = "full", .out = out
    };

    *out = (struct cross_check){ 0 };
    text_copy(out->served, sizeof out->served, observations->served_last);
    if (observations->begin == POINT_IDLE || observations->begin == POINT_BUSY)
        reconcile(&observations->first, &observations->last, &result->sent, &reporting.counts);
    judge(&reporting);
    out->gap_s = monitor_log_gap_s(&observations->log, result->measurement.window_start_ms,
                                   window_end_ms(&result->measurement));
    out->json = write_json(&reporting);
    if (observations->log.count > 0) {
        json_auto_t *columns = monitor_log_columns(&observations->log);

        cross_check_set_series(out, columns, (int64_t)observations->log.count);
    }
}
