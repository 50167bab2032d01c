/* SPDX-License-Identifier: Apache-2.0 */
/* The same questions to opsbrain's store and to a Prometheus that has the same scrapes: how long
 * the answers take, and how far they are apart.
 *
 *     bench_history_query FOLDER PROMETHEUS_URL DEPLOYMENTS END_S ROUNDS
 *
 * If the URL is empty, only opsbrain is asked. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "handlers/metrics/metric_history.h"
#include "store/ledger/store.h"

#define STEPS_MAX 128

#define TOKENS "vllm:generation_tokens_total"
#define TTFT "vllm:time_to_first_token_seconds"
#define OF_ONE "{deployment=\"d%1$d\"}"
#define RATE_OF(series) "rate(" series OF_ONE "[%2$ds])"
/* Growth since the end of the previous step. rate() omits that pair of scrapes, and compensates by
 * extrapolation. */
#define DIFFERENCE_OF(series) "(" series OF_ONE " - " series OF_ONE " offset %2$ds) / %2$d"
#define P99_OF(buckets) "histogram_quantile(0.99, sum by (le) (" buckets "))"

static const struct question {
    const char *title, *series;
    const char *expression; /* %1$d: the deployment, %2$d: the step */
    int64_t range_s, step_s;
} questions[] = {
    { "rate over 1 h, by 1 min", TOKENS, RATE_OF(TOKENS), 3600, 60 },
    { "  Prometheus without rate()", TOKENS, DIFFERENCE_OF(TOKENS), 3600, 60 },
    { "rate over 24 h, by 30 min", TOKENS, RATE_OF(TOKENS), 86400, 1800 },
    { "  Prometheus without rate()", TOKENS, DIFFERENCE_OF(TOKENS), 86400, 1800 },
    { "p99 TTFT over 1 h, by 1 min", TTFT, P99_OF(RATE_OF(TTFT "_bucket")), 3600, 60 },
    { "  Prometheus without rate()", TTFT, P99_OF(DIFFERENCE_OF(TTFT "_bucket")), 3600, 60 },
    { "p99 TTFT over 24 h, by 30 min", TTFT, P99_OF(RATE_OF(TTFT "_bucket")), 86400, 1800 },
    { "  Prometheus without rate()", TTFT, P99_OF(DIFFERENCE_OF(TTFT "_bucket")), 86400, 1800 },
};

/* By step; NaN: there is none. */
struct answer {
    double values[STEPS_MAX];
    double ms, inside_ms; /* as the caller sees it; as Prometheus counts its own work */
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_history_query: %s: %s\n", what, why);
    exit(1);
}

static void ask_store(struct store *store, const struct question *question, int deployment,
                      int64_t end_s, struct answer *out)
{
    struct metric_history_ask ask = { .deployment_id = deployment + 1,
                                      .figure = -1,
                                      .series = question->series,
                                      .function = -1,
                                      .percentile = 99,
                                      .from_ms = (end_s - question->range_s) * 1000,
                                      .to_ms = end_s * 1000,
                                      .step_ms = question->step_s * 1000 };
    struct metric_history history;
    struct error error;
    int64_t start_ns = clock_monotonic_ns();

    if (!scrape_level_for(store, ask.deployment_id, ask.from_ms, ask.step_ms, &ask.level, &error)
        || !metric_history_read(store, &ask, &history, &error))
        die(question->title, error.message);
    out->ms = (double)(clock_monotonic_ns() - start_ns) / 1e6;
    for (size_t i = 0; i < STEPS_MAX; i++)
        out->values[i] = NAN;
    for (size_t i = 0; i < history.count; i++)
        out->values[(history.values[i].at_ms - ask.from_ms) / ask.step_ms] =
            history.values[i].value;
    metric_history_finish(&history);
}

static void add_encoded(struct text *out, const char *text)
{
    for (; *text != '\0'; text++)
        text_addf(out, "%%%02x", (unsigned char)*text);
}

/* A range at time t covers the step before t. */
static void read_matrix(const json_t *data, int64_t from_s, int64_t step_s, struct answer *out)
{
    const json_t *values =
        json_object_get(json_array_get(json_object_get(data, "result"), 0), "values");
    size_t i;
    json_t *pair;

    json_array_foreach(json_iterable(values), i, pair) {
        int64_t at_s = (int64_t)json_number_value(json_array_get(pair, 0));

        out->values[(at_s - from_s) / step_s - 1] =
            strtod(json_string_value(json_array_get(pair, 1)), NULL);
    }
}

static void ask_prometheus(const char *url, const struct question *question, int deployment,
                           int64_t end_s, struct answer *out)
{
    int64_t from_s = end_s - question->range_s, start_ns;
    struct outbound_response response = { 0 };
    json_auto_t *root = NULL;
    TEXT_AUTO full = { 0 };
    struct error error;
    char expression[300];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* ours, from the table above */
    snprintf(expression, sizeof expression, question->expression, deployment,
             (int)question->step_s);
#pragma GCC diagnostic pop
    text_addf(&full,
              "%s/api/v1/query_range?stats=all&start=%" PRId64 "&end=%" PRId64 "&step=%" PRId64
              "&query=",
              url, from_s + question->step_s, end_s, question->step_s);
    add_encoded(&full, expression);
    const struct outbound_request request = { .url = full.data };
    start_ns = clock_monotonic_ns();
    if (!outbound_perform(&request, &response, &error)
        || !json_parse_fully(response.body.data, response.body.length, &root, &error))
        die(full.data, error.message);
    out->ms = (double)(clock_monotonic_ns() - start_ns) / 1e6;
    const json_t *data = json_object_get(root, "data");
    const json_t *timings = json_object_get(json_object_get(data, "stats"), "timings");
    out->inside_ms = json_get_number(timings, "execTotalTime", NAN) * 1000;
    for (size_t i = 0; i < STEPS_MAX; i++)
        out->values[i] = NAN;
    read_matrix(data, from_s, question->step_s, out);
    outbound_response_finish(&response);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double quantile(double *values, size_t count, double q)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, by_size);
    return values[(size_t)(q * (double)(count - 1) + 0.5)];
}

static void compare(const struct question *question, struct store *store, const char *url,
                    int deployments, int64_t end_s, int rounds)
{
    double *ours = memory_zeroed((size_t)rounds, sizeof *ours);
    double *theirs = memory_zeroed((size_t)rounds, sizeof *theirs);
    double *inside = memory_zeroed((size_t)rounds, sizeof *inside);
    double *apart = memory_zeroed((size_t)rounds * STEPS_MAX, sizeof *apart);
    size_t compared = 0, one_sided = 0, n = (size_t)rounds;

    for (int i = 0; i < rounds; i++) {
        struct answer own, other = { .ms = NAN, .inside_ms = NAN };
        /* not always the same hour, and whole steps */
        int64_t back_s = question->range_s >= 86400 ? 0 : (int64_t)(i % 20) * 3600;

        ask_store(store, question, i % deployments, end_s - back_s, &own);
        if (url[0] != '\0')
            ask_prometheus(url, question, i % deployments, end_s - back_s, &other);
        ours[i] = own.ms;
        theirs[i] = other.ms;
        inside[i] = other.inside_ms;
        for (int64_t j = 0; url[0] != '\0' && j < question->range_s / question->step_s; j++) {
            one_sided += isnan(own.values[j]) != isnan(other.values[j]);
            if (!isnan(own.values[j]) && !isnan(other.values[j]) && other.values[j] != 0)
                apart[compared++] = fabs(own.values[j] / other.values[j] - 1) * 100;
        }
    }
    printf("%-30s %8.2f %8.2f  %8.2f %8.2f  %8.2f %8.2f  %7.3f %7.3f %6zu\n", question->title,
           quantile(ours, n, 0.5), quantile(ours, n, 0.99), quantile(theirs, n, 0.5),
           quantile(theirs, n, 0.99), quantile(inside, n, 0.5), quantile(inside, n, 0.99),
           quantile(apart, compared, 0.5), quantile(apart, compared, 0.99), one_sided);
    free(ours);
    free(theirs);
    free(inside);
    free(apart);
}

int main(int argc, char **argv)
{
    struct store *store;
    struct error error;

    if (argc != 6)
        return 2;
    if (!outbound_global_init(&error) || !store_open(argv[1], "", 2, &store, &error))
        die(argv[1], error.message);
    printf("%-30s %17s  %17s  %17s  %22s\n", "", "opsbrain ms", "Prometheus ms", "of it evaluating",
           "answers apart %, one");
    printf("%-30s %8s %8s  %8s %8s  %8s %8s  %7s %7s %6s\n", "", "p50", "p99", "p50", "p99", "p50",
           "p99", "p50", "p99", "sided");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        compare(&questions[i], store, argv[2], (int)strtol(argv[3], NULL, 10),
                strtoll(argv[4], NULL, 10), (int)strtol(argv[5], NULL, 10));
    store_close(store);
    return 0;
}
