/* SPDX-License-Identifier: Apache-2.0 */
/* Which facts must be equal so that runs can be compared. */
#include "tests/unit/support/compare_trial.h"

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
    bool unknown;       /* at most one of the values that differ is known */
    bool within_a_side; /* unknown values differ even between runs of one side: no factor helps */
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
    assert_int_equal(comparison->differences[0].known_count < 2, refusal->unknown);
    assert_int_equal(comparison->primary.verdict == VERDICT_NOT_COMPARABLE, refused);
    assert_int_equal(comparison->cell_count, refused ? 0 : CELLS);
    trial->factors[0] = trial->accepted[0] = NULL;
}

static void refuses_differences_that_are_neither_factors_nor_accepted(void **state)
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

static void without_factors_or_accepted_facts_no_fact_may_differ(void **state)
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

static void refuses_a_difference_within_a_side_even_in_a_factor(void **state)
{
    struct trial *trial = *state;

    spoil_hardware(&trial->runs[1]);
    trial->factors[0] = "hardware";
    assert_int_equal(compare(trial)->refused, 1);
    assert_true(trial->comparison.differences[0].within_a_side);
}

static void two_unknown_regions_are_equal_only_within_one_sweep(void **state)
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

/* The sides are deployments, whose facts may differ; the work must still be the same. */
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
    spoil_engine(&trial->runs[RUNS - 1]); /* only one run of the side */
    assert_int_equal(compare(trial)->refused, 1);
}

static void set_fingerprint(struct evidence *run, int overhead_tokens, int seed)
{
    run->fingerprint =
        json_pack("{s:{s:i}, s:{s:i}, s:{s:i}}", "limits", "max_instances", 1, "request_form",
                  "overhead_tokens", overhead_tokens, "workload", "seed", seed);
}

/* A deployment with a different template or tokenizer gets the same work in a different form. */
static void the_request_form_may_differ_only_between_deployments(void **state)
{
    struct trial *trial = *state;
    const struct comparison *comparison;

    for (size_t i = 0; i < RUNS; i++)
        set_fingerprint(&trial->runs[i], i < RUNS / 2 ? 1 : 30, 7);
    comparison = compare(trial);
    assert_int_equal(comparison->refused, 1);
    assert_string_equal(comparison->differences[0].fact, "request_form");
    trial->as_deployments = true;
    comparison = compare(trial);
    assert_int_equal(comparison->refused, 0);
    assert_int_equal(comparison->difference_count, 1);
    for (size_t i = RUNS / 2; i < RUNS; i++) {
        json_decref(trial->runs[i].fingerprint);
        set_fingerprint(&trial->runs[i], 30, 8);
    }
    assert_int_equal(compare(trial)->refused, 1);
}

static void a_value_that_only_one_side_knows_is_reported(void **state)
{
    struct trial *trial = *state;
    const struct comparison *comparison;
    size_t found = 0;

    for (size_t i = 0; i < trial->repetitions; i++)
        spoil_region(&trial->runs[i]);
    comparison = compare(trial);
    for (size_t i = 0; i < comparison->difference_count; i++)
        if (strcmp(comparison->differences[i].fact, "region") == 0) {
            assert_false(compare_knows_neither(&comparison->differences[i]));
            found++;
        }
    assert_int_equal(found, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL(a_value_that_only_one_side_knows_is_reported),
        TRIAL(the_request_form_may_differ_only_between_deployments),
        cmocka_unit_test(refuses_differences_that_are_neither_factors_nor_accepted),
        TRIAL(without_factors_or_accepted_facts_no_fact_may_differ),
        TRIAL(refuses_a_difference_within_a_side_even_in_a_factor),
        TRIAL(two_unknown_regions_are_equal_only_within_one_sweep),
        TRIAL(two_deployments_may_differ_in_all_but_the_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
