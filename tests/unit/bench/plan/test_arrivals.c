/* SPDX-License-Identifier: Apache-2.0 */
/* Arrivals in an open loop follow the requested process. */
#include "bench/plan/arrivals.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define DRAWN 200000

struct gaps {
    double mean_s, variation; /* variance / mean^2 */
};

static struct gaps gaps_of(const struct arrivals *arrivals)
{
    struct arrivals_share arrivals_share;
    double sum = 0, squares = 0, mean;
    int64_t before_ns = 0;

    arrivals_share_begin(&arrivals_share, arrivals, 0, 1);
    for (int i = 0; i < DRAWN; i++, arrivals_share_step(&arrivals_share)) {
        double gap = (double)(arrivals_share_due_ns(&arrivals_share) - before_ns) / 1e9;

        assert_true(gap >= 0);
        sum += gap;
        squares += gap * gap;
        before_ns = arrivals_share_due_ns(&arrivals_share);
    }
    mean = sum / DRAWN;
    return (struct gaps){ mean, squares / DRAWN / (mean * mean) - 1 };
}

/* The allowed differences, 2 % for the mean and 5 % for the variation, are at least four standard
 * errors: over 200,000 gaps, a standard error is at most 0.5 % of the mean and 1 % of the variation
 * (with a burstiness of 0.25; less with the others). The seeds are fixed, so the result is always
 * the same. */
static void gaps_have_the_requested_mean_and_variance(void **state)
{
    static const struct arrivals all[] = {
        { ARRIVAL_CONSTANT, 250, 1, 0, 1 }, { ARRIVAL_POISSON, 7, 1, 0, 2 },
        { ARRIVAL_POISSON, 5000, 1, 0, 3 }, { ARRIVAL_GAMMA, 40, 0.25, 0, 4 },
        { ARRIVAL_GAMMA, 40, 1, 0, 5 },     { ARRIVAL_GAMMA, 40, 4, 0, 6 },
        { ARRIVAL_GAMMA, 0.5, 0.5, 0, 7 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct gaps gaps = gaps_of(&all[i]);
        double variation = arrivals_variation(&all[i]);

        if (fabs(gaps.mean_s * all[i].rate - 1) > 0.02
            || fabs(gaps.variation - variation) > 0.05 * variation + 1e-6)
            fail_msg("row %zu: got mean %g s and variation %g, expected %g s and %g", i,
                     gaps.mean_s, gaps.variation, 1 / all[i].rate, variation);
    }
}

/* In a Poisson process, 1 / e of the gaps are longer than the mean gap. */
static void poisson_gaps_are_exponential(void **state)
{
    const struct arrivals arrivals = { ARRIVAL_POISSON, 10, 1, 0, 11 };
    struct arrivals_share arrivals_share;
    int64_t before_ns = 0, longer = 0;

    (void)state;
    arrivals_share_begin(&arrivals_share, &arrivals, 0, 1);
    for (int i = 0; i < DRAWN; i++, arrivals_share_step(&arrivals_share)) {
        longer += arrivals_share_due_ns(&arrivals_share) - before_ns > 100000000;
        before_ns = arrivals_share_due_ns(&arrivals_share);
    }
    assert_true(fabs((double)longer / DRAWN - exp(-1)) < 0.005);
}

static void the_shares_of_all_threads_make_up_one_schedule(void **state)
{
    const struct arrivals arrivals = { ARRIVAL_GAMMA, 100, 0.5, 3, 12 };
    struct arrivals_share whole, shares[3];

    (void)state;
    arrivals_share_begin(&whole, &arrivals, 0, 1);
    for (size_t i = 0; i < 3; i++)
        arrivals_share_begin(&shares[i], &arrivals, i, 3);
    for (size_t i = 0; i < 3000; i++, arrivals_share_step(&whole)) {
        assert_int_equal(arrivals_share_due_ns(&whole), arrivals_share_due_ns(&shares[i % 3]));
        arrivals_share_step(&shares[i % 3]);
    }
}

static int64_t due_by(const struct arrivals *arrivals, double at_s)
{
    struct arrivals_share arrivals_share;
    int64_t count = 0;

    for (arrivals_share_begin(&arrivals_share, arrivals, 0, 1);
         arrivals_share_due_ns(&arrivals_share) <= (int64_t)(at_s * 1e9);
         arrivals_share_step(&arrivals_share))
        count++;
    return count;
}

static void the_rate_grows_over_the_ramp(void **state)
{
    const struct arrivals arrivals = { ARRIVAL_CONSTANT, 100, 1, 4, 13 };

    (void)state;
    assert_in_range(due_by(&arrivals, 2), 49, 51); /* 100 * 2^2 / (2 * 4) */
    assert_in_range(due_by(&arrivals, 4), 199, 201);
    assert_in_range(due_by(&arrivals, 5), 299, 301);
}

static void the_seed_determines_the_schedule(void **state)
{
    struct arrivals arrivals = { ARRIVAL_POISSON, 100, 1, 0, 14 };
    struct arrivals_share first, again, other;

    (void)state;
    arrivals_share_begin(&first, &arrivals, 0, 1);
    arrivals_share_begin(&again, &arrivals, 0, 1);
    assert_int_equal(arrivals_share_due_ns(&first), arrivals_share_due_ns(&again));
    arrivals.seed = 15;
    arrivals_share_begin(&other, &arrivals, 0, 1);
    assert_int_not_equal(arrivals_share_due_ns(&first), arrivals_share_due_ns(&other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_have_the_requested_mean_and_variance),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(the_shares_of_all_threads_make_up_one_schedule),
        cmocka_unit_test(the_rate_grows_over_the_ramp),
        cmocka_unit_test(the_seed_determines_the_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
