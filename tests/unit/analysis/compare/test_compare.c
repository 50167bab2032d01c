/* SPDX-License-Identifier: Apache-2.0 */
/* Compares runs whose figures are drawn at random, so that it is known which side is faster. */
#include "tests/unit/support/compare_trial.h"

/* Shares of the simulated comparisons, or of their cells. */
struct rates {
    double faster, slower;           /* the primary verdict says so */
    double covered;                  /* the primary interval contains the true factor */
    double some_faster, some_slower; /* at least one cell's verdict says so */
    double compared;                 /* share of all cells that were compared */
};

static struct rates simulate(struct trial *trial, int comparisons, double factor, uint64_t seed)
{
    struct rates rates = { 0 };
    struct generator generator;

    generator_init(&generator, seed);
    for (int i = 0; i < comparisons; i++) {
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
        *rate /= comparisons;
    print_message(
        "%zu runs per side, speed x %.2f: faster %.1f %%, slower %.1f %%, interval covers "
        "the factor %.1f %%; at least one cell faster %.1f %%, slower %.1f %%\n",
        trial->repetitions, factor, 100 * rates.faster, 100 * rates.slower, 100 * rates.covered,
        100 * rates.some_faster, 100 * rates.some_slower);
    return rates;
}

static void equal_sides_are_found_to_differ_in_one_of_twenty_comparisons(void **state)
{
    struct trial *trial = *state;
    struct rates rates = simulate(trial, 2000, 1, 1);

    assert_true(rates.faster + rates.slower >= 0.03 && rates.faster + rates.slower <= 0.07);
    assert_true(rates.faster > 0.01 && rates.slower > 0.01);
    assert_true(rates.covered >= 0.93 && rates.covered <= 0.97);
    assert_true(rates.some_faster + rates.some_slower <= 0.07);
}

/* With a spread of 2 % between runs and 3 % between cells, 5 repetitions per side detect a
 * slowdown of 5 % in at least four of five comparisons. */
static void five_repetitions_detect_a_slowdown_of_five_percent(void **state)
{
    struct trial *trial = *state;
    struct rates rates = simulate(trial, 2000, 1 / 1.05, 2);

    assert_true(rates.slower >= 0.80);
    assert_true(rates.faster <= 0.001);
    assert_true(rates.covered >= 0.93 && rates.covered <= 0.97);
}

static void equal_pairs_are_found_to_differ_in_one_of_twenty_comparisons(void **state)
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

/* The client limits the fastest cells, about one in 15, so with 5 repetitions half of the cells
 * lose at least one pair. This favours neither side, because a limited cell excludes its whole
 * pair, whichever side was fast. */
static void disturbed_pairs_favour_no_side(void **state)
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

/* A drift of 10 % between repetitions hides a slowdown of 5 % from a comparison of means, but not
 * from a comparison of pairs. */
static void pairs_detect_a_slowdown_that_a_drift_hides_from_means(void **state)
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

/* Computed by hand: the logarithms differ by 1, 2 and 3; t = 2 / (1 / sqrt 3) with two degrees of
 * freedom. */
static void pairs_are_judged_with_students_t_test(void **state)
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

/* Makes the n-th run one of our own: this repetition of this sweep, measured on this deployment. */
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

static void pairs_runs_that_were_measured_alternately(void **state)
{
    static const size_t counts[] = { 3, 3 }, fewer[] = { 3, 2 }, one_to_two[] = { 1, 2 };
    struct trial *trial = *state;

    assert_int_equal(compare_pair_up(trial->runs, counts), PAIRING_NONE);
    make_own(trial, 0, "swp_1", 0, "a");
    make_own(trial, 1, "swp_1", 2, "a");
    make_own(trial, 2, "swp_2", 0, "a");
    make_own(trial, 3, "swp_2", 0, "b");
    make_own(trial, 4, "swp_1", 0, "b");
    make_own(trial, 5, "swp_1", 1, "b"); /* a different repetition: no pair */
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
    make_own(trial, 1, "swp_1", 0, "a"); /* two runs of one deployment are not a pair */
    assert_int_equal(compare_pair_up(trial->runs, one_to_two), PAIRING_NONE);
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

static void one_run_per_side_is_no_evidence(void **state)
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
    assert_non_null(strstr(comparison->reason, "a side with one run"));
}

static void copies_are_not_repetitions(void **state)
{
    struct trial *trial = *state;

    for (size_t i = trial->repetitions; i < RUNS; i++)
        for (size_t j = 0; j < CELLS; j++)
            trial->runs[i].cells[j].output_throughput *= 2;
    assert_int_equal(compare(trial)->primary.verdict, VERDICT_NO_EVIDENCE);
    assert_non_null(strstr(trial->comparison.reason, "copies"));
}

/* Computed by hand: the logarithms 0, 1, 2 and 3, 5 have the means 1 and 4, and the variances 1 and
 * 2; t = 3 / sqrt(1/3 + 1) with (4/3)^2 / ((1/3)^2 / 2 + 1^2 / 1) = 1.684 degrees of freedom. */
static void sides_without_pairs_are_judged_with_welchs_t_test(void **state)
{
    static const double baseline[] = { 0, 1, 2 }, candidate[] = { 3, 5 };
    struct estimate estimate = compare_estimate(baseline, 3, candidate, 2, true);

    (void)state;
    assert_true(fabs(log(estimate.ratio) - 3) < 1e-12);
    assert_true(estimate.p > 0.10 && estimate.p < 0.16);
    assert_true(estimate.low < 1 && estimate.high > exp(6));
    assert_int_equal(estimate.verdict, VERDICT_NO_EVIDENCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(equal_sides_are_found_to_differ_in_one_of_twenty_comparisons),
        TRIAL(five_repetitions_detect_a_slowdown_of_five_percent),
        TRIAL(equal_pairs_are_found_to_differ_in_one_of_twenty_comparisons),
        TRIAL(disturbed_pairs_favour_no_side),
        TRIAL(pairs_detect_a_slowdown_that_a_drift_hides_from_means),
        cmocka_unit_test(pairs_are_judged_with_students_t_test),
        TRIAL(pairs_runs_that_were_measured_alternately),
        TRIAL(knows_which_direction_is_better),
        TRIAL(one_run_per_side_is_no_evidence),
        TRIAL(copies_are_not_repetitions),
        cmocka_unit_test(sides_without_pairs_are_judged_with_welchs_t_test),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
