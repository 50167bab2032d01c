/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the same queries on opsbrain's store and on a peer with the same scrapes, and prints how
 * long they take and by how much the answers differ.
 *
 *     bench_history_query FOLDER PEER DEPLOYMENTS END_S ROUNDS
 *
 * PEER: the URL of a Prometheus server, or the URI of a PostgreSQL database that opsbrain uses with
 * the folder FOLDER/peer; "": only opsbrain's store in FOLDER is queried. END_S: the end of the
 * history, in seconds since 1970. ROUNDS: how often each query is run. */
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
/* Growth per second since the end of the previous step. rate() omits the growth between the last
 * scrape of the previous step and the first of this one, and extrapolates instead. */
#define DIFFERENCE_OF(series) "(" series OF_ONE " - " series OF_ONE " offset %2$ds) / %2$d"
#define P99_OF(buckets) "histogram_quantile(0.99, sum by (le) (" buckets "))"

static const struct question {
    const char *title, *series;
    const char *expression; /* %1$d: the deployment, counted from 0; %2$d: the step in seconds */
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

/* The value of each step, NaN if it has none, and the time that the query took. */
struct answer {
    double values[STEPS_MAX];
    double ms;        /* as measured here */
    double inside_ms; /* the evaluation alone, as Prometheus reports it; NaN: unknown */
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_history_query: %s: %s\n", what, why);
    exit(1);
}

static void ask_store(struct store *store, const struct question *question, int deployment,
                      int64_t end_s, struct answer *out)
{
    struct metric_history_request request = { .deployment_id = deployment + 1,
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

    if (!scrape_level_for(store, request.deployment_id, request.from_ms, request.step_ms,
                          &request.level, &error)
        || !metric_history_read(store, &request, &history, &error))
        die(question->title, error.message);
    out->ms = (double)(clock_monotonic_ns() - start_ns) / 1e6;
    for (size_t i = 0; i < STEPS_MAX; i++)
        out->values[i] = NAN;
    for (size_t i = 0; i < history.count; i++)
        out->values[(history.values[i].at_ms - request.from_ms) / request.step_ms] =
            history.values[i].value;
    metric_history_finish(&history);
}

static void add_encoded(struct text *out, const char *text)
{
    for (; *text != '\0'; text++)
        text_addf(out, "%%%02x", (unsigned char)*text);
}

/* The value that Prometheus returns for a time is that of the step that ends then. */
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
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is from the table above */
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
        || !json_parse_by_jansson(response.body.data, response.body.length, &root, &error))
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

struct quantiles {
    double p50, p99;
};

static struct quantiles quantiles_of(double *values, size_t count)
{
    if (count == 0)
        return (struct quantiles){ NAN, NAN };
    qsort(values, count, sizeof *values, by_size);
    return (struct quantiles){ values[(count - 1) / 2], values[(count - 1) * 99 / 100] };
}

/* The peer that the store is compared with: Prometheus or a database. There is no peer if
 * `prometheus` is "" and `store` is NULL. */
struct peer {
    const char *prometheus; /* its URL; "": the peer is not Prometheus */
    struct store *store;    /* that of the database; NULL: the peer is not a database */
};

static bool peer_exists(const struct peer *peer)
{
    return peer->prometheus[0] != '\0' || peer->store != NULL;
}

static void ask_peer(const struct peer *peer, const struct question *question, int deployment,
                     int64_t end_s, struct answer *out)
{
    *out = (struct answer){ .ms = NAN, .inside_ms = NAN };
    if (peer->store != NULL)
        ask_store(peer->store, question, deployment, end_s, out);
    else if (peer_exists(peer))
        ask_prometheus(peer->prometheus, question, deployment, end_s, out);
}

static void compare(const struct question *question, struct store *store, const struct peer *peer,
                    int deployments, int64_t end_s, int rounds)
{
    double *ours = memory_zeroed((size_t)rounds, sizeof *ours);
    double *theirs = memory_zeroed((size_t)rounds, sizeof *theirs);
    double *inside = memory_zeroed((size_t)rounds, sizeof *inside);
    double *apart = memory_zeroed((size_t)rounds * STEPS_MAX, sizeof *apart);
    /* `compared`: number of steps with values on both sides, of which the peer's is not 0;
     * `one_sided`: number of steps with a value on only one side */
    size_t compared = 0, one_sided = 0;
    size_t n = (size_t)rounds;

    for (int i = 0; i < rounds; i++) {
        struct answer own, other;
        /* A range of less than a day ends at each of the last 20 full hours in turn. A full hour is
         * also the end of a step. */
        int64_t back_s = question->range_s >= 86400 ? 0 : (int64_t)(i % 20) * 3600;

        ask_store(store, question, i % deployments, end_s - back_s, &own);
        ask_peer(peer, question, i % deployments, end_s - back_s, &other);
        ours[i] = own.ms;
        theirs[i] = other.ms;
        inside[i] = other.inside_ms;
        for (int64_t j = 0; peer_exists(peer) && j < question->range_s / question->step_s; j++) {
            one_sided += isnan(own.values[j]) != isnan(other.values[j]);
            if (!isnan(own.values[j]) && !isnan(other.values[j]) && other.values[j] != 0)
                apart[compared++] = fabs(own.values[j] / other.values[j] - 1) * 100;
        }
    }
    struct quantiles our_time = quantiles_of(ours, n), their_time = quantiles_of(theirs, n),
                     third_column = quantiles_of(inside, n),
                     distance = quantiles_of(apart, compared);

    if (peer->store != NULL)
        third_column =
            (struct quantiles){ their_time.p50 / our_time.p50, their_time.p99 / our_time.p99 };
    printf("%-30s %8.2f %8.2f  %8.2f %8.2f  %8.2f %8.2f  %7.3f %7.3f %6zu\n", question->title,
           our_time.p50, our_time.p99, their_time.p50, their_time.p99, third_column.p50,
           third_column.p99, distance.p50, distance.p99, one_sided);
    free(ours);
    free(theirs);
    free(inside);
    free(apart);
}

static void open_store(const char *folder, const char *database, struct store **out)
{
    struct error error;

    if (!store_open(folder, database, 2, out, &error))
        die(folder, error.message);
}

static void print_heads(const struct peer *peer)
{
    bool is_store = peer->store != NULL;

    printf("%-30s %17s  %17s  %17s  %15s %6s\n", "", is_store ? "SQLite ms" : "opsbrain ms",
           is_store ? "PostgreSQL ms" : "Prometheus ms", is_store ? "ratio" : "evaluation ms",
           "difference %", "one-");
    printf("%-30s %8s %8s  %8s %8s  %8s %8s  %7s %7s %6s\n", "", "p50", "p99", "p50", "p99", "p50",
           "p99", "p50", "p99", "sided");
}

int main(int argc, char **argv)
{
    bool is_database = argc == 6 && strncmp(argv[2], "postgresql:", strlen("postgresql:")) == 0;
    struct peer peer = { .prometheus = "" };
    struct store *store;
    struct error error;
    TEXT_AUTO folder = { 0 };

    if (argc != 6)
        return 2;
    if (!outbound_global_init(&error))
        die("start", error.message);
    open_store(argv[1], "", &store);
    text_addf(&folder, "%s/peer", argv[1]);
    if (is_database)
        open_store(folder.data, argv[2], &peer.store);
    else
        peer.prometheus = argv[2];
    print_heads(&peer);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (peer.prometheus[0] != '\0' || questions[i].title[0] != ' ')
            compare(&questions[i], store, &peer, (int)strtol(argv[3], NULL, 10),
                    strtoll(argv[4], NULL, 10), (int)strtol(argv[5], NULL, 10));
    store_close(peer.store);
    store_close(store);
    return 0;
}
