/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how accurate and how fast the load generator is. Measures one cell on simserve, whose
 * own record of what it wrote and when is the truth. Prints the client's figures next to the truth.
 *
 *     bench_load URL USERS INPUT_TOKENS OUTPUT_TOKENS WINDOW_S [SHARDS [libcurl]]
 *
 * `libcurl`: the requests are sent with libcurl, not with opsbrain's own HTTP client.
 */
#include <math.h>
#include <sys/resource.h>

#include "base/core/memory.h"
#include "tests/bench/against_simserve.h"

/* Returns whether the error is at most 2 % or 3 ms, whichever is larger. */
static bool is_right(double client, double truth)
{
    return fabs(client - truth) <= fmax(3, 0.02 * truth);
}

/* Returns false if p50, p90 or p99 is wrong; p99.9 is only printed. */
static bool compare(const char *name, const struct histogram *client, const struct histogram *truth)
{
    static const double quantiles[] = { 0.5, 0.9, 0.99, 0.999 };
    bool right = true;

    if (histogram_count(truth) == 0)
        return true;
    for (int i = 0; i < 4; i++) {
        double got = against_quantile_ms(client, quantiles[i]),
               true_ms = against_quantile_ms(truth, quantiles[i]);

        printf("%-5s p%-5g client %10.3f ms   truth %10.3f ms   %+8.3f  %s\n", name,
               100 * quantiles[i], got, true_ms, got - true_ms,
               is_right(got, true_ms) ? "ok" : "WRONG");
        right = right && (i == 3 || is_right(got, true_ms));
    }
    return right;
}

/* Returns false if figures are wrong and the cell has no warning. */
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
           m->client_limited ? ", CLIENT LIMITED"
           : m->client_late  ? ", CLIENT LATE"
                             : "");
    right = compare("ttft", result->histograms[METRIC_TTFT], truth->ttft);
    right = compare("itl", result->histograms[METRIC_ITL], truth->itl) && right;
    printf("requests joined with simserve's record: %ld\n", truth->joined);
    if (!right && !m->client_limited && !m->client_late)
        printf("figures are wrong, but the cell has no warning\n");
    return right || m->client_limited || m->client_late;
}

int main(int argc, char **argv)
{
    struct truth truth;
    struct cell_result result;
    struct error error;

    if (argc < 6) {
        fprintf(stderr, "usage: bench_load URL USERS INPUT_TOKENS OUTPUT_TOKENS WINDOW_S [SHARDS "
                        "[libcurl]]\n");
        return 2;
    }
    if (!outbound_global_init(&error))
        against_die("libcurl", &error);
    const struct against against = { .url = argv[1],
                                     .api = BENCH_COMPLETIONS,
                                     .users = against_number(argv[2]),
                                     .input_tokens = against_number(argv[3]),
                                     .output_tokens = against_number(argv[4]),
                                     .window_s = against_number(argv[5]),
                                     .shards = argc > 6 ? against_number(argv[6]) : 1,
                                     .only_libcurl = argc > 7 };
    against_measure(&against, &result, &truth);
    bool honest = print(&result, &truth);
    FREE_AUTO char *lag = against_get(argv[1], "/sim/lag");
    printf("simserve's own lag: %s\n", lag);
    return honest ? 0 : 1;
}
