/* SPDX-License-Identifier: Apache-2.0 */
/* Checks how often run_compare's verdict is right. Makes many small A/B sweeps on simulated model
 * servers with jitter. A sweep consists of short runs of the real load generator, in the order of a
 * real plan.
 *
 *     bench_aa equal|slower COMPARISONS REPETITIONS URL_A URL_B [URL_A URL_B ...]
 *
 * `equal`: A and B are alike; some of the verdicts, but at most 8 %, must say that they differ.
 * `slower`: B is slower, and at least 80 % of the verdicts must say so. Only the verdicts on the
 * output throughput are judged; those on the other metrics are only counted and printed. Every
 * comparison has its own runs. Each pair of servers is used for one comparison at a time; all pairs
 * are used at the same time.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare.h"
#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/net/outbound.h"
#include "base/stats/statistics.h"
#include "bench/cell/cell.h"
#include "bench/sweep/fingerprint.h"

#define LANES_MAX 32
#define METRICS 8 /* how many of compare_metric_names are compared: the first 8 */
#define WINDOW_S 0.3
#define WARMUP_LIMIT_S 0.1
#define ATTEMPTS 5
#define EQUAL_AT_MOST 0.08 /* share of the verdicts: 16 of 200 */
#define SLOWER_AT_LEAST 0.80

static const double levels[] = { 0.01, 0.05, 0.2, 0.5 };
#define LEVELS (sizeof levels / sizeof *levels)

struct outcome {
    enum verdict verdicts[METRICS];
    double p;                        /* p value of the primary result for the output throughput */
    double ratio;                    /* B / A in the same result; NaN: no cell could be compared */
    size_t left_out[LEFT_OUT_COUNT]; /* number of cells, by the reason why they were not compared */
    double autocorrelation;          /* of the pairs' log ratios, in the order of measurement */
};

struct experiment {
    struct plan plan;
    struct workload workload;
    char *fingerprint;
    size_t count;           /* number of comparisons to make */
    atomic_size_t begun;    /* number of comparisons begun */
    atomic_size_t measured; /* number of cells measured */
    atomic_size_t repeated; /* number of attempts, without the first one at each cell */
    struct outcome *outcomes;
};

/* Two servers, and the thread that measures them alternately. */
struct lane {
    struct experiment *experiment;
    struct endpoint endpoints[SIDES];
    pthread_t thread;
};

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_aa: %s: %s\n", what, why);
    exit(1);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Makes a workload whose prompts consist of token ids. simserve counts each as one token. */
static void make_workload(struct workload *out)
{
    *out = (struct workload){ .api = BENCH_COMPLETIONS,
                              .form = PROMPT_IDS,
                              .source = "simserve",
                              .tokens_per_piece = 1,
                              .reports_usage = true,
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

/* Returns the latest cell that was measured on the same server with the same concurrency; NULL if
 * there is none yet. */
static const struct cell_row *find_sibling(const struct cell_row *rows, size_t count,
                                           const struct cell_row *row)
{
    for (size_t i = count; i > 0; i--)
        if (rows[i - 1].deployment_id == row->deployment_id
            && rows[i - 1].concurrency == row->concurrency)
            return &rows[i - 1];
    return NULL;
}

/* Measures a cell as a sweep does. If this machine was too busy, measures the cell again, up to
 * ATTEMPTS times in all. This is decided by `client_limited`, not by the latencies or the
 * throughput. */
static void measure(const struct lane *lane, struct cell_row *rows, size_t index)
{
    struct cell_row *row = &rows[index];
    const struct cell_row *sibling = find_sibling(rows, index, row);
    struct cell_order order = {
        .endpoint = &lane->endpoints[row->deployment_id],
        .workload = &lane->experiment->workload,
        .plan = &lane->experiment->plan,
        .concurrency = row->concurrency,
        .input_tokens = row->input_tokens,
        .output_tokens = row->output_tokens,
        .probe = sibling == NULL,
        .shards = 1,
        .expected_e2e_s =
            sibling == NULL ? 0 : sibling->measurement.latency[METRIC_E2E].mean_ms / 1e3,
        .stopped = never,
    };
    struct cell_result result;
    struct error error;

    for (int attempt = 0; attempt == 0 || (result.measurement.client_limited && attempt < ATTEMPTS);
         attempt++) {
        if (attempt > 0) {
            cell_result_finish(&result);
            atomic_fetch_add(&lane->experiment->repeated, 1);
        }
        random_bytes(&order.nonce, sizeof order.nonce);
        if (!cell_measure(&order, &result, &error))
            die("cell", error.message);
        if (result.state != CELL_MEASURED)
            die("cell", result.reason);
    }
    row->state = result.state;
    row->measurement = result.measurement;
    cell_result_finish(&result);
}

/* Measures all cells in the order of the plan. Returns an array of *count rows, which the caller
 * frees. */
static struct cell_row *measure_all(const struct lane *lane, size_t *count)
{
    FREE_AUTO struct cell_plan *cells = NULL;
    struct cell_row *rows;

    plan_cells(&lane->experiment->plan, SIDES, &cells, count);
    rows = memory_zeroed(*count, sizeof *rows);
    for (size_t i = 0; i < *count; i++) {
        rows[i] = (struct cell_row){ .deployment_id = (int64_t)cells[i].subject,
                                     .repetition = cells[i].repetition,
                                     .position = cells[i].position,
                                     .concurrency = cells[i].concurrency,
                                     .input_tokens = cells[i].input_tokens,
                                     .output_tokens = cells[i].output_tokens };
        measure(lane, rows, i);
    }
    atomic_fetch_add(&lane->experiment->measured, *count);
    return rows;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* Makes the evidence for one repetition on one side. */
static void make_run(const struct experiment *experiment, const struct cell_row *rows, size_t count,
                     int64_t side, int64_t repetition, struct evidence *out)
{
    FREE_AUTO struct cell_row *own = memory_zeroed(count, sizeof *own);
    struct run_row run = { .sweep_id = "swp_aa",
                           .repetition = repetition,
                           .fingerprint_document = experiment->fingerprint };
    size_t own_count = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].deployment_id == side && rows[i].repetition == repetition)
            own[own_count++] = rows[i];
    snprintf(run.id, sizeof run.id, "run_%d_%d", (int)side, (int)repetition);
    snprintf(run.deployment, sizeof run.deployment, "%s", side == SIDE_BASELINE ? "a" : "b");
    evidence_of_run(&run, own, own_count, out);
}

/* Returns the mean, over all cells, of the logarithm of b's output throughput divided by a's. */
static double pair_log_ratio(const struct evidence *a, const struct evidence *b)
{
    double sum = 0;

    for (size_t i = 0; i < a->cell_count; i++)
        sum += log(b->cells[i].output_throughput / a->cells[i].output_throughput);
    return sum / (double)a->cell_count;
}

/* Returns the correlation of the values with their predecessors. */
static double autocorrelation(const double *values, size_t count)
{
    double mean = statistics_mean(values, count), products = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
        if (i > 0)
            products += (values[i] - mean) * (values[i - 1] - mean);
    }
    return products / squares;
}

static void judge(const struct experiment *experiment, const struct evidence *runs,
                  struct outcome *out)
{
    static const char *const none[] = { NULL };
    size_t repetitions = (size_t)experiment->plan.repetitions;
    double ratios[COMPARE_RUNS_MAX];

    for (size_t metric = 0; metric < METRICS; metric++) {
        const struct compare_input input = { .runs = runs,
                                             .counts = { repetitions, repetitions },
                                             .metric = metric,
                                             .factors = none,
                                             .accepted = none,
                                             .paired = true,
                                             .as_deployments = true };
        COMPARISON_AUTO comparison = { 0 };

        compare_runs(&input, &comparison);
        if (comparison.refused > 0)
            die("the runs differ in", comparison.differences[0].fact);
        out->verdicts[metric] = comparison.primary.verdict;
        if (metric > 0)
            continue;
        out->p = comparison.primary.p;
        out->ratio = comparison.primary.ratio;
        for (size_t i = 0; i < comparison.cell_count; i++)
            out->left_out[comparison.cells[i].why]++;
    }
    for (size_t i = 0; i < repetitions; i++)
        ratios[i] = pair_log_ratio(&runs[i], &runs[repetitions + i]);
    out->autocorrelation = autocorrelation(ratios, repetitions);
}

static void run_comparison(const struct lane *lane, struct outcome *out)
{
    const struct experiment *experiment = lane->experiment;
    struct evidence runs[COMPARE_RUNS_MAX];
    size_t count, made = 0;
    FREE_AUTO struct cell_row *rows = measure_all(lane, &count);

    for (int64_t side = 0; side < SIDES; side++)
        for (int64_t i = 0; i < experiment->plan.repetitions; i++)
            make_run(experiment, rows, count, side, i, &runs[made++]);
    judge(experiment, runs, out);
    for (size_t i = 0; i < made; i++)
        evidence_finish(&runs[i]);
}

static void *run_lane(void *context)
{
    struct lane *lane = context;
    struct experiment *experiment = lane->experiment;
    size_t next;

    while ((next = atomic_fetch_add(&experiment->begun, 1)) < experiment->count)
        run_comparison(lane, &experiment->outcomes[next]);
    return NULL;
}

/* ---- Printing ---- */

static size_t count_verdicts(const struct experiment *experiment, size_t metric,
                             enum verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < experiment->count; i++)
        count += experiment->outcomes[i].verdicts[metric] == verdict;
    return count;
}

static void print_metrics(const struct experiment *experiment)
{
    printf("%-20s %8s %8s %12s %15s\n", "metric", "faster", "slower", "no evidence",
           "not comparable");
    for (size_t metric = 0; metric < METRICS; metric++)
        printf("%-20s %8zu %8zu %12zu %15zu\n", compare_metric_names[metric],
               count_verdicts(experiment, metric, VERDICT_FASTER),
               count_verdicts(experiment, metric, VERDICT_SLOWER),
               count_verdicts(experiment, metric, VERDICT_NO_EVIDENCE),
               count_verdicts(experiment, metric, VERDICT_NOT_COMPARABLE));
}

static void print_skipped(const struct experiment *experiment)
{
    for (enum left_out why = CELL_COMPARED + 1; why < LEFT_OUT_COUNT; why++) {
        size_t count = 0;

        for (size_t i = 0; i < experiment->count; i++)
            count += experiment->outcomes[i].left_out[why];
        if (count > 0)
            printf("skipped: %zu of %zu cells, %s\n", count, 2 * experiment->count,
                   left_out_help(why));
    }
}

/* For each level, prints the share of comparisons whose p is below the level. If the sides are
 * alike, this share is about equal to the level. Also prints the mean ratio and correlation. */
static void print_levels(const struct experiment *experiment)
{
    double correlations = 0, ratios = 0;
    size_t compared = 0;

    printf("output_throughput: p below");
    for (size_t level = 0; level < LEVELS; level++) {
        size_t below = 0;

        for (size_t i = 0; i < experiment->count; i++)
            below += experiment->outcomes[i].p < levels[level];
        printf("%s %g in %.1f %%", level > 0 ? "," : "", levels[level],
               100 * (double)below / (double)experiment->count);
    }
    for (size_t i = 0; i < experiment->count; i++) {
        correlations += experiment->outcomes[i].autocorrelation / (double)experiment->count;
        if (isnan(experiment->outcomes[i].ratio)) /* no cell could be compared */
            continue;
        ratios += log(experiment->outcomes[i].ratio);
        compared++;
    }
    printf("\nmean ratio B / A %.4f; correlation of each pair with the previous one %.3f (%.3f "
           "if the pairs are independent)\n",
           exp(ratios / (double)compared), correlations, -1 / (double)experiment->plan.repetitions);
}

/* Returns the exit status. */
static int print_verdict(const struct experiment *experiment, bool equal)
{
    double all = (double)experiment->count;
    double faster = (double)count_verdicts(experiment, 0, VERDICT_FASTER) / all;
    double slower = (double)count_verdicts(experiment, 0, VERDICT_SLOWER) / all;
    bool passed =
        equal ? faster + slower > 0 && faster + slower <= EQUAL_AT_MOST : slower >= SLOWER_AT_LEAST;

    printf("cells measured: %zu; attempts repeated because this machine was too busy: %zu\n",
           experiment->measured, experiment->repeated);
    print_metrics(experiment);
    print_skipped(experiment);
    print_levels(experiment);
    if (equal)
        printf("%s: %.1f %% of %zu comparisons of equal servers say 'faster' or 'slower' "
               "(expected: 5 %%; "
               "allowed: above 0 and at most %g %%)\n",
               passed ? "ok" : "FAILED", 100 * (faster + slower), experiment->count,
               100 * EQUAL_AT_MOST);
    else
        printf("%s: power %.1f %% (%zu comparisons; at least %g %% required)\n",
               passed ? "ok" : "FAILED", 100 * slower, experiment->count, 100 * SLOWER_AT_LEAST);
    return passed ? 0 : 1;
}

/* ---- The experiment ---- */

static void make_experiment(struct experiment *experiment, int64_t comparisons, int64_t repetitions)
{
    const struct deployment deployment = { .provider = "endpoint",
                                           .hardware = "none",
                                           .region = "here",
                                           .limits = "{\"max_instances\":1}" };
    const struct model_facts facts = { .model = "simserve/toy",
                                       .engine = "simserve",
                                       .details = "{}" };
    json_auto_t *arguments =
        json_pack("{s:[i, i], s:[i], s:[i], s:I}", "concurrency", 2, 4, "input_tokens", 64,
                  "output_tokens", 16, "repetitions", (json_int_t)repetitions);
    struct error error;

    if (!outbound_global_init(&error) || !plan_read(arguments, &experiment->plan, &error))
        die("plan", error.message);
    experiment->plan.window_s = WINDOW_S; /* shorter than sweep_start allows */
    experiment->plan.warmup_limit_s = WARMUP_LIMIT_S;
    make_workload(&experiment->workload);
    experiment->fingerprint =
        fingerprint_write(&deployment, &facts, &experiment->workload, &experiment->plan, NULL);
    experiment->count = (size_t)comparisons;
    experiment->outcomes = memory_zeroed(experiment->count, sizeof *experiment->outcomes);
}

static void run_lanes(struct experiment *experiment, char **urls, size_t count)
{
    struct lane *lanes = memory_zeroed(count, sizeof *lanes);

    for (size_t i = 0; i < count; i++) {
        lanes[i].experiment = experiment;
        for (size_t side = 0; side < SIDES; side++) {
            struct endpoint *endpoint = &lanes[i].endpoints[side];

            text_copy(endpoint->url, sizeof endpoint->url, urls[SIDES * i + side]);
            text_copy(endpoint->model, sizeof endpoint->model, "simserve/toy");
        }
        if (pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]) != 0)
            die("thread", "cannot be started");
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(lanes[i].thread, NULL);
    free(lanes);
}

int main(int argc, char **argv)
{
    static struct experiment experiment;
    int64_t comparisons = 0, repetitions = 0;
    bool equal = argc > 1 && strcmp(argv[1], "equal") == 0;
    int status;

    if (argc < 6 || argc % 2 != 0 || argc > 4 + SIDES * LANES_MAX
        || !text_to_integer(argv[2], 1, 100000, &comparisons)
        || !text_to_integer(argv[3], 2, COMPARE_RUNS_MAX / 2, &repetitions)) {
        fprintf(stderr, "usage: bench_aa equal|slower COMPARISONS REPETITIONS URL_A URL_B ...\n");
        return 2;
    }
    make_experiment(&experiment, comparisons, repetitions);
    run_lanes(&experiment, argv + 4, (size_t)(argc - 4) / SIDES);
    status = print_verdict(&experiment, equal);
    free(experiment.outcomes);
    free(experiment.fingerprint);
    return status;
}
