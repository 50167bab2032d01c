/* How right and how fast the load generator is: one cell against simserve, whose own record of what
 * it wrote, and when, is the truth. Prints client and truth side by side.
 *
 *     bench_load URL USERS INPUT_TOKENS OUTPUT_TOKENS WINDOW_S
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/outbound.h"
#include "base/random.h"
#include "bench/cell.h"
#include "tests/simserve/harness/truth.h"

/* Ids of simserve's tokenizer; no server but it is asked. */
static void make_workload(struct workload *out)
{
    *out = (struct workload){ .api = BENCH_COMPLETIONS,
                              .form = PROMPT_IDS,
                              .source = "simserve",
                              .tokens_per_piece = 1,
                              .tells_usage = true,
                              .piece_count = WORKLOAD_PIECES };
    out->fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS;
    for (int i = 0; i < WORKLOAD_PIECES; i++)
        snprintf(out->pieces[i], WORKLOAD_PIECE_SIZE, "%d", 1000 + i);
}

static bool never(void *context, const char *doing, double elapsed_s)
{
    (void)context, (void)doing, (void)elapsed_s;
    return false;
}

static void die(const char *what, const struct error *error)
{
    fprintf(stderr, "bench_load: %s: %s\n", what, error->message);
    exit(1);
}

static void get(const char *url, const char *path, struct outbound_response *out)
{
    TEXT_AUTO full = { 0 };
    struct error error;

    text_addf(&full, "%s%s", url, path);
    const struct outbound_request request = { .url = full.data,
                                              .accept = "*/*",
                                              .response_limit_bytes = 1024UL * 1024 * 1024 };
    if (!outbound_perform(&request, out, &error))
        die(path, &error);
}

static double ms(const struct histogram *histogram, double q)
{
    return (double)histogram_quantile(histogram, q, NULL) / 1e6;
}

/* Within 2 % or 3 ms, the larger. */
static bool is_right(double client, double truth)
{
    return fabs(client - truth) <= fmax(3, 0.02 * truth);
}

/* False where p50, p90 or p99 is wrong. */
static bool compare(const char *name, const struct histogram *client, const struct histogram *truth)
{
    static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
    bool right = true;

    if (histogram_count(truth) == 0)
        return true;
    for (int i = 0; i < 4; i++) {
        double got = ms(client, quantiles[i]), true_ms = ms(truth, quantiles[i]);

        printf("%-5s p%-5g client %10.3f ms   truth %10.3f ms   %+8.3f  %s\n", name,
               100 * quantiles[i], got, true_ms, got - true_ms,
               is_right(got, true_ms) ? "ok" : "WRONG");
        right = right && (i == 3 || is_right(got, true_ms));
    }
    return right;
}

/* False where figures are wrong, and not marked. */
static bool print(const struct cell_result *result, const struct truth *truth)
{
    const struct measurement *m = &result->measurement;
    struct rusage usage;
    bool right;

    getrusage(RUSAGE_SELF, &usage);
    printf("%s %s\n", cell_state_name(result->state), result->reason);
    printf("requests %ld of %ld, in flight %.1f (%ld to %ld), Little %.3f, window %.1f s, warm-up "
           "%.1f s, drain %.1f s\n",
           m->succeeded, m->attempted, m->concurrency_actual, m->concurrency_min,
           m->concurrency_max, m->little_ratio, m->window_s, m->warmup_s, m->drain_s);
    printf(
        "tokens/s in %.0f out %.0f (sd %.0f), events/s %.0f, requests/s %.1f, cold TTFT %.1f ms, "
        "cached %ld\n",
        m->input_throughput, m->output_throughput, m->output_throughput_deviation,
        (double)m->chunks / m->window_s, m->request_throughput, m->cold_ttft_ms, m->cached_tokens);
    printf("client: CPU %.1f %%, %.2f us/event, lag p50 %.3f p99 %.3f ms, start lag p99 %.3f ms, "
           "stale %ld, RSS %ld MB%s\n",
           m->cpu_percent, m->cpu_percent * 1e4 * m->window_s / (double)m->chunks, m->lag_p50_ms,
           m->lag_p99_ms, m->start_lag_p99_ms, m->stale_connections, usage.ru_maxrss / 1024,
           m->client_limited ? ", CLIENT LIMITED" : "");
    right = compare("ttft", result->histograms[METRIC_TTFT], truth->ttft);
    right = compare("itl", result->histograms[METRIC_ITL], truth->itl) && right;
    printf("joined %ld\n", truth->joined);
    if (!right && !m->client_limited)
        printf("wrong, and not marked\n");
    return right || m->client_limited;
}

static int64_t number(const char *text)
{
    int64_t value = 0;

    if (text_to_integer(text, 0, 10000000, &value))
        return value;
    fprintf(stderr, "bench_load: '%s' is not a whole number\n", text);
    exit(2);
}

int main(int argc, char **argv)
{
    struct truth truth;
    static struct workload workload;
    static struct endpoint endpoint;
    struct cell_result result;
    struct plan plan;
    struct error error;
    struct outbound_response lag;
    uint64_t nonce;

    if (argc < 6) {
        fprintf(stderr, "usage: bench_load URL USERS INPUT_TOKENS OUTPUT_TOKENS WINDOW_S\n");
        return 2;
    }
    json_auto_t *arguments =
        json_pack("{s:[I], s:[I], s:[I], s:I, s:f}", "concurrency", number(argv[2]), "input_tokens",
                  number(argv[3]), "output_tokens", number(argv[4]), "window_s", number(argv[5]),
                  "warmup_limit_s", 30.0);
    if (!outbound_global_init(&error) || !plan_read(arguments, &plan, &error))
        die("plan", &error);
    text_copy(endpoint.url, sizeof endpoint.url, argv[1]);
    text_copy(endpoint.model, sizeof endpoint.model, "simserve/toy");
    make_workload(&workload);
    random_bytes(&nonce, sizeof nonce);
    const struct cell_order order = { .endpoint = &endpoint,
                                      .workload = &workload,
                                      .plan = &plan,
                                      .concurrency = plan.concurrency[0],
                                      .input_tokens = plan.input_tokens[0],
                                      .output_tokens = plan.output_tokens[0],
                                      .nonce = nonce,
                                      .probe = true,
                                      .shards = argc > 6 ? (unsigned)number(argv[6]) : 1,
                                      .stopped = never };
    if (!cell_measure(&order, &result, &error))
        die("cell", &error);
    truth_create(&truth);
    if (!truth_read(argv[1], &result, nonce, &truth, &error))
        die("truth", &error);
    bool honest = print(&result, &truth);
    get(argv[1], "/sim/lag", &lag);
    printf("simserve's own lag: %s\n", text_string(&lag.body));
    return honest ? 0 : 1;
}
