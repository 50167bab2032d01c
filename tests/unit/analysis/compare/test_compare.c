/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons of runs made by a seeded generator, and of runs that a test changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/compare/compare.h"
#include "base/core/random.h"
#include "base/json/json.h"
#include "handlers/runs/compare_answer.h"

#define RUNS 10
#define CELLS 8 /* 1, 2, 4 and 8 users at 128 and 1024 tokens */

enum { OUTPUT_THROUGHPUT, REQUEST_THROUGHPUT, TTFT_P50, TTFT_P99, ITL_P50, TPOT_P50, E2E_P50 };

struct trial {
    struct evidence runs[RUNS]; /* the baseline's first */
    size_t repetitions;         /* of each side */
    size_t metric;
    const char *factors[4], *accepted[4];
    bool paired, as_deployments;
    double drift; /* spread of what the runs of a pair share */
    double limit; /* cells that deviate by more than this many times CELL_SPREAD are client_limited;
                     0: none */
    struct comparison comparison;
};

static void set_latency(struct evidence_cell *cell, double ms)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        cell->latency[i].p50_ms = cell->latency[i].p99_ms = ms;
}

static void set_figures(struct evidence_cell *cell, double speed)
{
    cell->output_throughput = speed;
    cell->request_throughput = speed / 64;
    set_latency(cell, 1000 / speed);
}

static void make_run(struct evidence *run, size_t number)
{
    struct evidence_facts *facts = &run->facts;

    evidence_init(run);
    snprintf(run->id, sizeof run->id, "imp_%zu", number);
    run->imported = true;
    run->input_unit = LENGTH_TOKENS;
    strcpy(facts->model, "toy");
    strcpy(facts->model_revision, "a1");
    strcpy(facts->engine, "vllm");
    strcpy(facts->engine_version, "0.9");
    strcpy(facts->flags, "--x");
    strcpy(facts->hardware, "L4");
    strcpy(facts->region, "here");
    strcpy(facts->dataset, "random");
    facts->chips = facts->max_instances = 1;
    for (size_t i = 0; i < CELLS; i++) {
        struct evidence_cell *cell = evidence_add(run);

        cell->state = EVIDENCE_MEASURED;
        cell->concurrency = (double)(1 << i % 4);
        cell->input_length = i < 4 ? 128 : 1024;
        cell->output_tokens_asked = cell->output_tokens_mean = 64;
        cell->success_rate = 1;
        set_figures(cell, 100 * cell->concurrency);
    }
}

static int set_up(void **state)
{
    struct trial *trial = calloc(1, sizeof *trial);

    for (size_t i = 0; i < RUNS; i++)
        make_run(&trial->runs[i], i);
    trial->repetitions = RUNS / 2;
    *state = trial;
    return 0;
}

static int tear_down(void **state)
{
    struct trial *trial = *state;

    comparison_finish(&trial->comparison);
    for (size_t i = 0; i < RUNS; i++)
        evidence_finish(&trial->runs[i]);
    free(trial);
    return 0;
}

static struct compare_input input_of(const struct trial *trial)
{
    return (struct compare_input){ .runs = trial->runs,
                                   .counts = { trial->repetitions, trial->repetitions },
                                   .metric = trial->metric,
                                   .factors = trial->factors,
                                   .accepted = trial->accepted,
                                   .paired = trial->paired,
                                   .as_deployments = trial->as_deployments };
}

static const struct comparison *compare(struct trial *trial)
{
    const struct compare_input input = input_of(trial);

    comparison_finish(&trial->comparison);
    compare_runs(&input, &trial->comparison);
    return &trial->comparison;
}

/* ---- The generator ---- */

#define RUN_SPREAD 0.02  /* the deviation that all cells of a run share */
#define CELL_SPREAD 0.03 /* the deviation of each cell */

/* Box and Muller. */
static double normal(struct generator *generator)
{
    double radius = sqrt(-2 * log(1 - generator_uniform(generator)));

    return radius * cos(6.283185307179586 * generator_uniform(generator));
}

/* The candidate's speed is `factor` of the baseline's. */
static void draw(struct trial *trial, struct generator *generator, double factor)
{
    double drifts[RUNS] = { 0 };

    for (size_t i = 0; i < trial->repetitions && trial->drift > 0; i++)
        drifts[i] = trial->drift * normal(generator);
    for (size_t i = 0; i < 2 * trial->repetitions; i++) {
        double luck = drifts[i % trial->repetitions] + RUN_SPREAD * normal(generator)
                      + (i < trial->repetitions ? 0 : log(factor));

        for (size_t j = 0; j < CELLS; j++) {
            struct evidence_cell *cell = &trial->runs[i].cells[j];
            double own = normal(generator);

            set_figures(cell, 100 * cell->concurrency * exp(luck + CELL_SPREAD * own));
            cell->client_limited = trial->limit > 0 && own > trial->limit;
        }
    }
}

struct rates {
    double faster, slower, covered;  /* of the primary verdict */
    double some_faster, some_slower; /* at least one cell is said to be */
    double compared;                 /* cells that were */
};

static struct rates simulate(struct trial *trial, int pairs, double factor, uint64_t seed)
{
    struct rates rates = { 0 };
    struct generator generator;

    generator_init(&generator, seed);
    for (int i = 0; i < pairs; i++) {
        const struct comparison *comparison;
        const struct estimate *primary;

        draw(trial, &generator, factor);
        comparison = compare(trial);
        primary = &comparison->primary;
        assert_true(trial->limit > 0 || comparison->compared == CELLS);
        rates.compared += (double)comparison->compared / CELLS;
        rates.faster += primary->verdict == VERDICT_FASTER;
        rates.slower += primary->verdict == VERDICT_SLOWER;
        rates.covered += primary->low < factor && factor < primary->high;
        rates.some_faster += comparison->verdicts[VERDICT_FASTER] > 0;
        rates.some_slower += comparison->verdicts[VERDICT_SLOWER] > 0;
    }
    for (double *rate = &rates.faster; rate <= &rates.compared; rate++)
        *rate /= pairs;
    print_message("%zu runs a side, speed x %.2f: faster %.1f %%, slower %.1f %%, interval holds "
                  "it %.1f %%; some cell faster %.1f %%, slower %.1f %%\n",
                  trial->repetitions, factor, 100 * rates.faster, 100 * rates.slower,
                  100 * rates.covered, 100 * rates.some_faster, 100 * rates.some_slower);
    return rates;
}

static void finds_a_difference_between_equals_in_one_of_twenty(void **state)
{
    struct trial *trial = *state;
    struct rates rates = simulate(trial, 2000, 1, 1);

    assert_true(rates.faster + rates.slower >= 0.03 && rates.faster + rates.slower <= 0.07);
    assert_true(rates.faster > 0.01 && rates.slower > 0.01);
    assert_true(rates.covered >= 0.93 && rates.covered <= 0.97);
    assert_true(rates.some_faster + rates.some_slower <= 0.07);
}

/* With a spread of 2 % between runs and 3 % between cells, 5 repetitions a side detect 5 %. */
static void sees_a_slowdown_of_five_percent_at_five_repetitions(void **state)
{
    struct trial *trial = *state;
    struct rates rates = simulate(trial, 2000, 1 / 1.05, 2);

    assert_true(rates.slower >= 0.80);
    assert_true(rates.faster <= 0.001);
    assert_true(rates.covered >= 0.93 && rates.covered <= 0.97);
}

static void pairs_of_equals_differ_in_one_of_twenty(void **state)
{
    struct trial *trial = *state;
    struct rates rates;

    trial->paired = true;
    trial->drift = 0.1;
    rates = simulate(trial, 2000, 1, 4);
    assert_true(rates.faster + rates.slower >= 0.03 && rates.faster + rates.slower <= 0.07);
    assert_true(rates.covered >= 0.93 && rates.covered <= 0.97);
    assert_true(rates.some_faster + rates.some_slower <= 0.07);
}

/* Also where it is the fastest one in 15 cells that are limited by the client, for that leaves out
 * their pairs whichever side was fast. 5 repetitions: half of the cells lose a pair. */
static void what_disturbs_a_pair_makes_no_difference_between_equals(void **state)
{
    struct trial *trial = *state;
    struct rates rates;

    trial->paired = true;
    trial->limit = 1.5;
    trial->drift = 0.1;
    rates = simulate(trial, 2000, 1, 6);
    assert_true(rates.faster + rates.slower >= 0.03 && rates.faster + rates.slower <= 0.07);
    assert_true(fabs(rates.faster - rates.slower) < 0.02);
    assert_true(rates.covered >= 0.92 && rates.covered <= 0.97);
    assert_true(rates.some_faster + rates.some_slower <= 0.07);
    assert_true(rates.compared > 0.95);
}

/* A drift of 10 % between repetitions hides 5 % from a comparison of means, but not of pairs. */
static void pairs_see_through_a_drift_that_hides_a_slowdown(void **state)
{
    struct trial *trial = *state;
    struct rates apart, paired;

    trial->drift = 0.1;
    apart = simulate(trial, 1000, 1 / 1.05, 5);
    trial->paired = true;
    paired = simulate(trial, 1000, 1 / 1.05, 5);
    assert_true(apart.slower < 0.2);
    assert_true(paired.slower > 0.7 && paired.slower > 4 * apart.slower);
    assert_true(paired.covered >= 0.93 && paired.covered <= 0.97);
}

/* t of the differences 1, 2 and 3: 2 / (1 / sqrt 3), two degrees of freedom. */
static void tests_pairs_as_student_did(void **state)
{
    const double baseline[] = { 0.5, 0.1, 0.3 }, candidate[] = { 1.5, 2.1, 3.3 };
    struct estimate estimate = compare_estimate_pairs(baseline, candidate, 3, true);

    (void)state;
    assert_true(fabs(estimate.ratio - exp(2)) < 1e-9);
    assert_true(fabs(estimate.values[SIDE_BASELINE] - exp(0.3)) < 1e-9);
    assert_true(fabs(estimate.values[SIDE_CANDIDATE] - exp(2.3)) < 1e-9);
    assert_true(fabs(estimate.p - 0.0741799) < 1e-6);
    assert_true(fabs(log(estimate.high) - (2 + 4.302653 / sqrt(3))) < 1e-5);
    assert_int_equal(estimate.verdict, VERDICT_NO_EVIDENCE);
    assert_true(isnan(compare_estimate_pairs(baseline, candidate, 1, true).p));
    assert_true(isnan(compare_estimate_pairs(baseline, baseline, 3, true).p));
}

/* The n-th run becomes one of that sweep, repetition and deployment. */
static void make_own(struct trial *trial, size_t n, const char *sweep, int repetition,
                     const char *deployment)
{
    struct evidence *run = &trial->runs[n];

    run->imported = false;
    run->repetition = repetition;
    snprintf(run->id, sizeof run->id, "%s/%d/%s", sweep, repetition, deployment);
    snprintf(run->name, sizeof run->name, "%s", sweep);
    snprintf(run->facts.deployment, sizeof run->facts.deployment, "%s", deployment);
}

static void finds_the_pairs_of_runs_that_were_measured_in_turns(void **state)
{
    static const size_t counts[] = { 3, 3 }, fewer[] = { 3, 2 }, crossed[] = { 1, 2 };
    struct trial *trial = *state;

    assert_int_equal(compare_pair_up(trial->runs, counts), PAIRING_NONE);
    make_own(trial, 0, "swp_1", 0, "a");
    make_own(trial, 1, "swp_1", 2, "a");
    make_own(trial, 2, "swp_2", 0, "a");
    make_own(trial, 3, "swp_2", 0, "b");
    make_own(trial, 4, "swp_1", 0, "b");
    make_own(trial, 5, "swp_1", 1, "b"); /* another repetition: no pair */
    assert_int_equal(compare_pair_up(trial->runs, counts), PAIRING_SOME);
    assert_string_equal(trial->runs[3].id, "swp_2/0/b");
    make_own(trial, 5, "swp_1", 2, "b");
    assert_int_equal(compare_pair_up(trial->runs, fewer), PAIRING_SOME);
    assert_int_equal(compare_pair_up(trial->runs, counts), PAIRING_ALL);
    assert_string_equal(trial->runs[0].id, "swp_1/0/a");
    assert_string_equal(trial->runs[3].id, "swp_1/0/b");
    assert_string_equal(trial->runs[4].id, "swp_1/2/b");
    assert_string_equal(trial->runs[5].id, "swp_2/0/b");
    make_own(trial, 2, "swp_2", 0, "b"); /* each side has both deployments */
    make_own(trial, 5, "swp_2", 0, "a");
    assert_int_equal(compare_pair_up(trial->runs, counts), PAIRING_SOME);
    make_own(trial, 1, "swp_1", 0, "a"); /* repetitions of one deployment are not a pair */
    assert_int_equal(compare_pair_up(trial->runs, crossed), PAIRING_NONE);
}

static void knows_which_direction_is_better(void **state)
{
    struct trial *trial = *state;
    struct generator generator;

    generator_init(&generator, 3);
    draw(trial, &generator, 1.5);
    for (trial->metric = 0; compare_metric_names[trial->metric] != NULL; trial->metric++) {
        const struct comparison *comparison = compare(trial);

        assert_int_equal(comparison->primary.verdict, VERDICT_FASTER);
        assert_int_equal(comparison->verdicts[VERDICT_FASTER], CELLS);
        assert_int_equal(comparison->primary.ratio > 1,
                         compare_metrics[trial->metric].higher_is_better);
        assert_null(comparison->reason);
    }
}

static void one_run_a_side_is_no_evidence(void **state)
{
    struct trial *trial = *state;
    struct generator generator;
    const struct comparison *comparison;

    generator_init(&generator, 4);
    trial->repetitions = 1;
    draw(trial, &generator, 2);
    comparison = compare(trial);
    assert_int_equal(comparison->primary.verdict, VERDICT_NO_EVIDENCE);
    assert_true(comparison->primary.ratio > 1.8 && comparison->primary.ratio < 2.2);
    assert_true(isnan(comparison->primary.low) && isnan(comparison->primary.p));
    assert_non_null(strstr(comparison->reason, "one run a side"));
}

static void copies_are_no_repetitions(void **state)
{
    struct trial *trial = *state;

    for (size_t i = trial->repetitions; i < RUNS; i++)
        for (size_t j = 0; j < CELLS; j++)
            trial->runs[i].cells[j].output_throughput *= 2;
    assert_int_equal(compare(trial)->primary.verdict, VERDICT_NO_EVIDENCE);
    assert_non_null(strstr(trial->comparison.reason, "copies"));
}

/* By hand: logarithms 0, 1, 2 and 3, 5: means 1 and 4, variances 1 and 2; t = 3 / sqrt(1/3 + 1),
 * degrees of freedom (4/3)^2 / ((1/3)^2 / 2 + 1^2 / 1) = 1.684. */
static void tests_as_welch_did(void **state)
{
    static const double baseline[] = { 0, 1, 2 }, candidate[] = { 3, 5 };
    struct estimate estimate = compare_estimate(baseline, 3, candidate, 2, true);

    (void)state;
    assert_true(fabs(log(estimate.ratio) - 3) < 1e-12);
    assert_true(estimate.p > 0.10 && estimate.p < 0.16);
    assert_true(estimate.low < 1 && estimate.high > exp(6));
    assert_int_equal(estimate.verdict, VERDICT_NO_EVIDENCE);
}

/* ---- Refusals ---- */

static void spoil_model(struct evidence *run)
{
    strcpy(run->facts.model, "other");
}
static void spoil_revision(struct evidence *run)
{
    run->facts.model_revision[0] = '\0';
}
static void spoil_engine(struct evidence *run)
{
    strcpy(run->facts.engine, "sglang");
}
static void spoil_version(struct evidence *run)
{
    strcpy(run->facts.engine_version, "0.10");
}
static void spoil_flags(struct evidence *run)
{
    strcpy(run->facts.flags, "--y");
}
static void spoil_hardware(struct evidence *run)
{
    strcpy(run->facts.hardware, "H100");
}
static void spoil_chips(struct evidence *run)
{
    run->facts.chips = 2;
}
static void spoil_region(struct evidence *run)
{
    run->facts.region[0] = '\0';
}
static void spoil_limits(struct evidence *run)
{
    run->facts.max_instances = 3;
}
static void spoil_workload(struct evidence *run)
{
    strcpy(run->facts.dataset, "sharegpt");
}
static void spoil_unit(struct evidence *run)
{
    run->input_unit = LENGTH_WORDS;
}
static void spoil_quantization(struct evidence *run)
{
    strcpy(run->facts.quantization, "fp8");
}

static const struct refusal {
    const char *fact;
    void (*spoil)(struct evidence *run);
    bool unknown, within_a_side; /* of the candidate's runs too, to which no factor applies */
} refusals[] = {
    { "model", spoil_model, false },     { "model_revision", spoil_revision, true, true },
    { "engine", spoil_engine, false },   { "engine_version", spoil_version, false },
    { "flags", spoil_flags, false },     { "hardware", spoil_hardware, false },
    { "chips", spoil_chips, false },     { "region", spoil_region, true, true },
    { "limits", spoil_limits, false },   { "workload", spoil_workload, false },
    { "input_unit", spoil_unit, false }, { "quantization", spoil_quantization, true },
};

static void expect_refusal(struct trial *trial, const struct refusal *refusal, bool refused)
{
    const struct comparison *comparison = compare(trial);

    assert_int_equal(comparison->refused, refused);
    assert_int_equal(comparison->difference_count, 1);
    assert_string_equal(comparison->differences[0].fact, refusal->fact);
    assert_int_equal(comparison->differences[0].unknown, refusal->unknown);
    assert_int_equal(comparison->primary.verdict == VERDICT_NOT_COMPARABLE, refused);
    assert_int_equal(comparison->cell_count, refused ? 0 : CELLS);
    trial->factors[0] = trial->accepted[0] = NULL;
}

static void refuses_what_was_not_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *refusal = &refusals[i];
        struct trial *trial;

        set_up((void **)&trial);
        for (size_t j = trial->repetitions; j < RUNS; j++)
            refusal->spoil(&trial->runs[j]);
        expect_refusal(trial, refusal, true);
        trial->factors[0] = "price";
        expect_refusal(trial, refusal, true);
        trial->factors[0] = refusal->fact;
        expect_refusal(trial, refusal, refusal->within_a_side);
        trial->accepted[0] = refusal->fact;
        expect_refusal(trial, refusal, !refusal->unknown);
        tear_down((void **)&trial);
    }
}

static void without_lists_of_names_no_fact_may_differ(void **state)
{
    struct trial *trial = *state;
    struct compare_input input = input_of(trial);

    for (size_t i = trial->repetitions; i < RUNS; i++)
        refusals[0].spoil(&trial->runs[i]);
    input.factors = input.accepted = NULL;
    comparison_finish(&trial->comparison);
    compare_runs(&input, &trial->comparison);
    assert_int_equal(trial->comparison.refused, 1);
}

static void refuses_runs_that_are_not_repetitions(void **state)
{
    struct trial *trial = *state;

    spoil_hardware(&trial->runs[1]);
    trial->factors[0] = "hardware";
    assert_int_equal(compare(trial)->refused, 1);
    assert_true(trial->comparison.differences[0].within_a_side);
}

static void an_unknown_value_equals_nothing_except_within_one_sweep(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < RUNS; i++)
        spoil_region(&trial->runs[i]);
    assert_int_equal(compare(trial)->refused, 1);
    trial->accepted[0] = "region";
    assert_int_equal(compare(trial)->refused, 0);
    trial->accepted[0] = NULL;
    for (size_t i = 0; i < RUNS; i++) {
        trial->runs[i].imported = false;
        strcpy(trial->runs[i].name, "swp_1");
    }
    assert_int_equal(compare(trial)->refused, 0);
    strcpy(trial->runs[0].name, "swp_2");
    assert_int_equal(compare(trial)->refused, 1);
}

/* ---- Cells ---- */

/* The deployments are compared; the work must nevertheless be the same. */
static void two_deployments_may_differ_in_all_but_the_work(void **state)
{
    struct trial *trial = *state;
    const struct comparison *comparison;

    trial->as_deployments = true;
    for (size_t i = RUNS / 2; i < RUNS; i++) {
        spoil_model(&trial->runs[i]);
        spoil_hardware(&trial->runs[i]);
        spoil_version(&trial->runs[i]);
    }
    comparison = compare(trial);
    assert_int_equal(comparison->refused, 0);
    assert_int_equal(comparison->difference_count, 3);
    assert_true(comparison->differences[0].allowed);
    for (size_t i = RUNS / 2; i < RUNS; i++)
        spoil_workload(&trial->runs[i]);
    assert_int_equal(compare(trial)->refused, 1);
    for (size_t i = RUNS / 2; i < RUNS; i++)
        strcpy(trial->runs[i].facts.dataset, "random");
    spoil_engine(&trial->runs[RUNS - 1]); /* one of a side alone */
    assert_int_equal(compare(trial)->refused, 1);
}

static void print_run(struct evidence *run, int overhead_tokens, int seed)
{
    run->fingerprint =
        json_pack("{s:{s:i}, s:{s:i}, s:{s:i}}", "limits", "max_instances", 1, "request_form",
                  "overhead_tokens", overhead_tokens, "workload", "seed", seed);
}

/* Another template or tokenizer is another way to write the same work. */
static void how_a_server_is_asked_belongs_to_the_deployment(void **state)
{
    struct trial *trial = *state;
    const struct comparison *comparison;

    for (size_t i = 0; i < RUNS; i++)
        print_run(&trial->runs[i], i < RUNS / 2 ? 1 : 30, 7);
    comparison = compare(trial);
    assert_int_equal(comparison->refused, 1);
    assert_string_equal(comparison->differences[0].fact, "request_form");
    trial->as_deployments = true;
    comparison = compare(trial);
    assert_int_equal(comparison->refused, 0);
    assert_int_equal(comparison->difference_count, 1);
    for (size_t i = RUNS / 2; i < RUNS; i++) {
        json_decref(trial->runs[i].fingerprint);
        print_run(&trial->runs[i], 30, 8);
    }
    assert_int_equal(compare(trial)->refused, 1);
}

static void fail_cell(struct evidence_cell *cell)
{
    cell->state = EVIDENCE_FAILED;
}
static void forget_success(struct evidence_cell *cell)
{
    cell->success_rate = NAN;
}
static void lower_success(struct evidence_cell *cell)
{
    cell->success_rate = 0.98;
}
static void limit_client(struct evidence_cell *cell)
{
    cell->client_limited = true;
}
static void contaminate(struct evidence_cell *cell)
{
    cell->contaminated = true;
}
static void estimate_tokens(struct evidence_cell *cell)
{
    cell->tokens_estimated = true;
}
static void move_cell(struct evidence_cell *cell)
{
    cell->concurrency = 3;
}
static void double_cell(struct evidence_cell *cell)
{
    cell->concurrency = 8;
}
static void shorten(struct evidence_cell *cell)
{
    cell->output_tokens_mean = 8;
}
static void lengthen(struct evidence_cell *cell)
{
    cell->output_tokens_mean = 100;
}
static void zero(struct evidence_cell *cell)
{
    set_figures(cell, 0);
}

static void censor(struct evidence_cell *cell)
{
    cell->latency[METRIC_E2E].p50_at_least = true;
}

static const struct spoilt {
    void (*spoil)(struct evidence_cell *cell);
    size_t metric;
    enum left_out why;
    size_t left_out;
} spoilt[] = {
    { fail_cell, OUTPUT_THROUGHPUT, CELL_NOT_MEASURED, 1 },
    { forget_success, OUTPUT_THROUGHPUT, CELL_SUCCESS_UNKNOWN, 1 },
    { lower_success, OUTPUT_THROUGHPUT, CELL_LOW_SUCCESS, 1 },
    { limit_client, OUTPUT_THROUGHPUT, CELL_CLIENT_LIMITED, 1 },
    { contaminate, OUTPUT_THROUGHPUT, CELL_CONTAMINATED, 1 },
    { move_cell, OUTPUT_THROUGHPUT, CELL_MISSING, 1 },
    { double_cell, OUTPUT_THROUGHPUT, CELL_MISSING, 2 }, /* the other is there twice */
    { shorten, TPOT_P50, CELL_SHORT_OUTPUT, 1 },
    { lengthen, E2E_P50, CELL_OTHER_OUTPUT, 1 },
    { zero, OUTPUT_THROUGHPUT, CELL_NO_FIGURE, 1 },
    { censor, E2E_P50, CELL_CENSORED, 1 },
    { censor, OUTPUT_THROUGHPUT, CELL_COMPARED, 0 },
    { estimate_tokens, OUTPUT_THROUGHPUT, CELL_OTHER_COUNT, 1 },
    { estimate_tokens, TPOT_P50, CELL_OTHER_COUNT, 1 },
    { estimate_tokens, E2E_P50, CELL_COMPARED, 0 },
};

static void skips_cells_that_cannot_be_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        struct trial *trial;
        struct generator generator;
        const struct comparison *comparison;

        set_up((void **)&trial);
        generator_init(&generator, i);
        trial->metric = spoilt[i].metric;
        draw(trial, &generator, 1);
        spoilt[i].spoil(&trial->runs[7].cells[0]); /* 1 user at 128 tokens */
        comparison = compare(trial);
        assert_int_equal(comparison->compared, CELLS - spoilt[i].left_out);
        assert_int_equal(comparison->cells[0].why, spoilt[i].why);
        assert_int_equal(comparison->cells[0].users, 1);
        if (spoilt[i].left_out > 0 && spoilt[i].why != CELL_OTHER_OUTPUT)
            assert_string_equal(comparison->cells[0].run, "imp_7");
        tear_down((void **)&trial);
    }
}

static void reports_cells_whose_tokens_every_run_estimated(void **state)
{
    struct trial *trial = *state;
    const struct comparison *comparison;

    assert_int_equal(compare(trial)->estimated, 0);
    for (size_t i = 0; i < RUNS; i++)
        trial->runs[i].cells[0].tokens_estimated = true;
    comparison = compare(trial);
    assert_int_equal(comparison->compared, CELLS);
    assert_int_equal(comparison->estimated, 1);
    assert_true(comparison->cells[0].estimated && !comparison->cells[1].estimated);
    assert_null(comparison->cells[0].run);
}

static void skips_what_a_run_has_twice(void **state)
{
    struct trial *trial = *state;

    double_cell(&trial->runs[7].cells[0]);
    assert_int_equal(compare(trial)->compared, CELLS - 2);
    assert_int_equal(trial->comparison.cells[3].why, CELL_TWICE);
}

/* A ratio of 2, except for the disturbed pair. */
static struct evidence_cell *disturb(struct trial *trial, size_t run, size_t cell)
{
    struct evidence_cell *one = &trial->runs[run].cells[cell];

    one->contaminated = true;
    set_figures(one, 7);
    return one;
}

static void expect_disturbance_described(const struct trial *trial)
{
    const struct compare_input input = input_of(trial);
    json_auto_t *json = compare_answer_json(&input, &trial->comparison, false);
    const json_t *cell = json_array_get(json_object_get(json, "disturbed"), 0);
    TEXT_AUTO text = { 0 };

    compare_answer_describe(&input, &trial->comparison, &text);
    assert_non_null(strstr(text_string(&text), "over 7 cells, those in which every pair counts"));
    assert_non_null(strstr(text_string(&text), "- 1 user, context 128: the server also worked for "
                                               "others, imp_2: 4 of 5 pairs count\n"));
    assert_int_equal(json_get_integer(json, "ratio_cells", 0), 7);
    assert_string_equal(json_get_text(cell, "why", ""), "contaminated");
    assert_int_equal(json_get_integer(cell, "pairs_left_out", 0), 1);
}

static void a_disturbed_pair_is_skipped_only_in_its_cell(void **state)
{
    struct trial *trial = *state;
    struct generator generator;
    const struct comparison *comparison;

    trial->paired = true;
    generator_init(&generator, 7);
    draw(trial, &generator, 2);
    disturb(trial, 7, 0); /* of the third pair */
    disturb(trial, 2, 0); /* of the same */
    comparison = compare(trial);
    assert_int_equal(comparison->compared, CELLS);
    assert_int_equal(comparison->primary_cells, CELLS - 1);
    assert_int_equal(comparison->primary_pairs_left_out, 0);
    assert_int_equal(comparison->cells[0].pairs_left_out, 1);
    assert_int_equal(comparison->cells[0].disturbed, CELL_CONTAMINATED);
    assert_string_equal(comparison->cells[0].run, trial->runs[2].id);
    assert_true(fabs(comparison->cells[0].estimate.ratio - 2) < 0.2);
    assert_int_equal(comparison->cells[1].pairs_left_out, 0);
    assert_null(comparison->cells[1].run);
    expect_disturbance_described(trial);
    disturb(trial, 3, 0);
    assert_int_equal(compare(trial)->cells[0].pairs_left_out, 2);
    disturb(trial, 9, 0); /* two pairs are left of five */
    assert_int_equal(compare(trial)->cells[0].why, CELL_CONTAMINATED);
    assert_int_equal(trial->comparison.compared, CELLS - 1);
    trial->paired = false;
    disturb(trial, 9, 1);
    assert_int_equal(compare(trial)->cells[1].why, CELL_CONTAMINATED);
}

static void a_failure_is_never_skipped_with_only_its_pair(void **state)
{
    struct trial *trial = *state;

    trial->paired = true;
    disturb(trial, 2, 0);
    disturb(trial, 4, 0)->success_rate = 0.5;
    assert_int_equal(compare(trial)->cells[0].why, CELL_LOW_SUCCESS);
    assert_string_equal(trial->comparison.cells[0].run, trial->runs[4].id);
}

/* Every cell lacks a pair: the ratio is over the pairs that no cell lacks. */
static void the_ratio_counts_every_pair_by_the_same_cells(void **state)
{
    struct trial *trial = *state;
    struct generator generator;
    const struct comparison *comparison;

    trial->paired = true;
    generator_init(&generator, 8);
    draw(trial, &generator, 2);
    for (size_t i = 0; i < CELLS; i++)
        disturb(trial, i % 2, i);
    comparison = compare(trial);
    assert_int_equal(comparison->compared, CELLS);
    assert_int_equal(comparison->primary_cells, CELLS);
    assert_int_equal(comparison->primary_pairs_left_out, 2);
    assert_true(fabs(comparison->primary.ratio - 2) < 0.1);
    assert_int_equal(comparison->primary.verdict, VERDICT_FASTER);
    disturb(trial, 2, 0);
    disturb(trial, 0, 0)->contaminated = false;
    assert_int_equal(compare(trial)->compared, CELLS);
    assert_int_equal(trial->comparison.primary.verdict, VERDICT_NOT_COMPARABLE);
    assert_non_null(strstr(trial->comparison.reason, "every cell has too few pairs"));
}

static void what_was_not_judged_claims_nothing(void **state)
{
    struct trial *trial = *state;
    const struct estimate estimate = { 0 };
    const struct comparison *comparison;

    assert_string_equal(verdict_name(estimate.verdict), "not_comparable");
    lower_success(&trial->runs[0].cells[0]);
    comparison = compare(trial);
    for (size_t i = 0; i < comparison->cell_count; i++)
        assert_int_equal(comparison->cells[i].why, i == 0 ? CELL_LOW_SUCCESS : CELL_COMPARED);
    assert_string_equal(left_out_name(0), "not_judged");
}

static void says_so_when_every_cell_was_skipped(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < CELLS; i++)
        lower_success(&trial->runs[0].cells[i]);
    assert_int_equal(compare(trial)->primary.verdict, VERDICT_NOT_COMPARABLE);
    assert_non_null(strstr(trial->comparison.reason, "no cell"));
}

static void takes_unknown_success_where_it_is_accepted(void **state)
{
    struct trial *trial = *state;

    forget_success(&trial->runs[0].cells[0]);
    trial->accepted[0] = "success_rate";
    assert_int_equal(compare(trial)->compared, CELLS);
}

/* Sixteen contexts: three blocks of at most 100 columns. */
static void writes_tables_that_fit_a_terminal(void **state)
{
    struct trial *trial = *state;
    TEXT_AUTO text = { 0 };
    size_t blocks = 0;

    for (size_t i = 0; i < RUNS; i++)
        for (size_t j = 0; j < 14; j++) {
            struct evidence_cell *cell = evidence_add(&trial->runs[i]);

            *cell = trial->runs[i].cells[0];
            cell->input_length = 100000 + (double)j;
            set_figures(cell, i < trial->repetitions ? 1 + (double)i : 1e9 + (double)i);
        }
    compare_write_table(compare(trial), &text);
    for (const char *line = text.data; *line != '\0'; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 100);
        blocks += strncmp(line, "| users", 7) == 0;
    }
    assert_int_equal(blocks, 3);
}

#define TRIAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(finds_a_difference_between_equals_in_one_of_twenty),
        TRIAL(sees_a_slowdown_of_five_percent_at_five_repetitions),
        TRIAL(pairs_of_equals_differ_in_one_of_twenty),
        TRIAL(what_disturbs_a_pair_makes_no_difference_between_equals),
        TRIAL(pairs_see_through_a_drift_that_hides_a_slowdown),
        cmocka_unit_test(tests_pairs_as_student_did),
        TRIAL(how_a_server_is_asked_belongs_to_the_deployment),
        TRIAL(finds_the_pairs_of_runs_that_were_measured_in_turns),
        TRIAL(knows_which_direction_is_better),
        TRIAL(one_run_a_side_is_no_evidence),
        TRIAL(copies_are_no_repetitions),
        cmocka_unit_test(tests_as_welch_did),
        cmocka_unit_test(refuses_what_was_not_named),
        TRIAL(without_lists_of_names_no_fact_may_differ),
        TRIAL(refuses_runs_that_are_not_repetitions),
        TRIAL(an_unknown_value_equals_nothing_except_within_one_sweep),
        TRIAL(two_deployments_may_differ_in_all_but_the_work),
        cmocka_unit_test(skips_cells_that_cannot_be_compared),
        TRIAL(reports_cells_whose_tokens_every_run_estimated),
        TRIAL(skips_what_a_run_has_twice),
        TRIAL(a_disturbed_pair_is_skipped_only_in_its_cell),
        TRIAL(a_failure_is_never_skipped_with_only_its_pair),
        TRIAL(the_ratio_counts_every_pair_by_the_same_cells),
        TRIAL(what_was_not_judged_claims_nothing),
        TRIAL(says_so_when_every_cell_was_skipped),
        TRIAL(takes_unknown_success_where_it_is_accepted),
        TRIAL(writes_tables_that_fit_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
