/* SPDX-License-Identifier: Apache-2.0 */
/* One row of `./run bench truth`: measures a cell against simserve, whose record of what it wrote
 * and when is the truth. Prints each figure twice, as measured and as recorded, with the error and
 * whether the error is allowed.
 *
 *     bench_truth URL USERS RATE OUTPUT_TOKENS WINDOW_S [chat] [chunk-usage] [libcurl]
 *
 * RATE is 0 for a closed loop, else the requests per second of an open loop. With an open loop,
 * USERS is the maximum number of requests in flight, and ttft and e2e count from the time at which
 * the request was due.
 */
#include <math.h>

#include "base/core/memory.h"
#include "tests/bench/against_simserve.h"

/* Up to this number of users, the allowed error is 1 % or 0.5 ms, whichever is more, for times, and
 * 1 % for tokens/s; with more users, it is 2 % or 3 ms for times, and 2 % for tokens/s. */
#define FEW_USERS 512

struct allowance {
    double share, ms;
};

static bool is_within(double client, double truth, struct allowance allowed)
{
    return fabs(client - truth) <= fmax(allowed.ms, allowed.share * truth);
}

/* Returns false if a figure is wrong. */
static bool compare(const char *name, const struct histogram *client, const struct histogram *truth,
                    struct allowance allowed)
{
    static const double quantiles[] = { 0.5, 0.9, 0.99 };
    bool right = true;

    for (int i = 0; i < 3 && histogram_count(truth) > 0; i++) {
        double got = against_quantile_ms(client, quantiles[i]),
               real = against_quantile_ms(truth, quantiles[i]);
        bool within = is_within(got, real, allowed);

        printf("  %-4s p%-2g %10.3f %10.3f ms %+8.3f ms %+7.2f %%  %s\n", name, 100 * quantiles[i],
               got, real, got - real, 100 * (got / real - 1), within ? "ok" : "WRONG");
        right = right && within;
    }
    return right;
}

static bool compare_all(const struct cell_result *result, const struct truth *truth,
                        struct allowance allowed)
{
    struct histogram *const *ours = result->histograms;
    double got = result->measurement.output_throughput;
    double real = truth->tokens / result->measurement.window_s;
    bool open = result->measurement.request_rate_asked > 0, right;

    right = compare("ttft", ours[METRIC_TTFT], open ? truth->ttft_due : truth->ttft, allowed);

    right = compare("icl", ours[METRIC_ICL], truth->itl, allowed) && right;
    right = compare("tpot", ours[METRIC_TPOT], truth->tpot, allowed) && right;
    right = compare("e2e", ours[METRIC_E2E], open ? truth->e2e_due : truth->e2e, allowed) && right;
    allowed.ms = 0;
    printf("  tokens/s %10.1f %10.1f %25.2f %%  %s\n", got, real, 100 * (got / real - 1),
           is_within(got, real, allowed) ? "ok" : "WRONG");
    return is_within(got, real, allowed) && right;
}

static bool print(const struct against *against, const struct cell_result *result,
                  const struct truth *truth)
{
    const struct measurement *m = &result->measurement;
    struct allowance allowed = against->users <= FEW_USERS ? (struct allowance){ 0.01, 0.5 }
                                                           : (struct allowance){ 0.02, 3 };
    FREE_AUTO char *lag = against_get(against->url, "/sim/lag");
    bool right;

    printf("  %-8s %10s %10s\n", "", "client", "truth");
    right = compare_all(result, truth, allowed);
    printf("  %ld requests, %ld found in simserve's record, %.0f events/s, client: CPU %.0f %%, "
           "lag p99 %.3f ms%s\n"
           "  simserve's lag behind its plan: %s\n",
           m->succeeded, truth->joined, (double)m->chunks / m->window_s, m->cpu_percent,
           m->lag_p99_ms,
           m->client_limited ? ", CLIENT LIMITED"
           : m->client_late  ? ", CLIENT LATE"
                             : "",
           lag);
    printf("  %s\n", !right ? "WRONG" : truth->joined < m->succeeded ? "NOT ALL FOUND" : "right");
    return right && truth->joined == m->succeeded;
}

static bool has_option(char **arguments, const char *name)
{
    for (; *arguments != NULL; arguments++)
        if (strcmp(*arguments, name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct truth truth;
    struct cell_result result;
    struct error error;

    if (argc < 6) {
        fprintf(stderr,
                "usage: bench_truth URL USERS RATE OUTPUT_TOKENS WINDOW_S [chat] [chunk-usage] "
                "[libcurl]\n");
        return 2;
    }
    if (!outbound_global_init(&error))
        against_die("libcurl", &error);
    const struct against against = { .url = argv[1],
                                     .api =
                                         has_option(argv, "chat") ? BENCH_CHAT : BENCH_COMPLETIONS,
                                     .fields =
                                         has_option(argv, "chunk-usage") ? FIELD_CHUNK_USAGE : 0,
                                     .users = against_number(argv[2]),
                                     .rate = against_number(argv[3]),
                                     .input_tokens = 128,
                                     .output_tokens = against_number(argv[4]),
                                     .window_s = against_number(argv[5]),
                                     .shards = 1,
                                     .only_libcurl = has_option(argv, "libcurl") };
    against_measure(&against, &result, &truth);
    return print(&against, &result, &truth) ? 0 : 1;
}
