/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/steady.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/random.h"

/* Adds `count` samples, one every 10 ns. From one to the next, the counter grows by `step`. */
static void add(struct steady *steady, int count, int64_t step)
{
    struct steady_sample last = { -10, -step };

    if (steady->count > 0)
        last = steady->samples[steady->count - 1];
    for (int i = 1; i <= count; i++)
        steady_add(steady, last.at_ns + 10 * i, last.count + step * i);
}

static void agreement_needs_two_windows(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    assert_false(steady_agrees(&steady, 100));
    add(&steady, 20, 5); /* these samples cover 190 ns */
    assert_false(steady_agrees(&steady, 100));
    add(&steady, 1, 5);
    assert_true(steady_agrees(&steady, 100));
    steady_finish(&steady);
}

static void rate_is_measured_over_the_latest_window(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    assert_true(isnan(steady_rate(&steady, 100)));
    add(&steady, 1, 5);
    assert_true(isnan(steady_rate(&steady, 100)));
    add(&steady, 4, 5);
    assert_float_equal(steady_rate(&steady, 100), 5e8, 1);
    add(&steady, 20, 3);
    assert_float_equal(steady_rate(&steady, 100), 3e8, 1);
    steady_finish(&steady);
}

static void windows_disagree_until_both_have_the_new_rate(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    add(&steady, 20, 5);
    add(&steady, 10, 6);
    assert_false(steady_agrees(&steady, 100));
    add(&steady, 10, 6);
    assert_true(steady_agrees(&steady, 100));
    steady_finish(&steady);
}

static void a_counter_that_does_not_grow_is_not_steady(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    add(&steady, 50, 0);
    assert_false(steady_agrees(&steady, 100));
    steady_finish(&steady);
}

/* Returns the share of 400 runs in which the interval contains the true rate. A run has 201
 * samples. From one to the next, the count grows by 1000 on average; `memory` is the share of a
 * deviation from this average that carries over to the next sample. */
static double coverage(double memory)
{
    struct generator generator;
    int hits = 0;

    generator_init(&generator, 42);
    for (int run = 0; run < 400; run++) {
        struct steady steady = { 0 };
        double count = 0, deviation = 0, width;

        steady_add(&steady, 0, 0);
        for (int i = 1; i <= 200; i++) {
            deviation = memory * deviation + 200 * (generator_uniform(&generator) - 0.5);
            count += 1000 + deviation;
            steady_add(&steady, (int64_t)i * 50000000, (int64_t)count);
        }
        width = steady_half_width(&steady);
        hits += fabs(count / 200 - 1000) <= width * count / 200;
        steady_finish(&steady);
    }
    return hits / 400.0;
}

static void the_interval_contains_the_true_rate_in_over_90_percent_of_runs(void **state)
{
    (void)state;
    assert_true(coverage(0) > 0.92 && coverage(0) <= 1);
    assert_true(coverage(0.8) > 0.90); /* correlated samples say less than independent ones */
}

static void the_interval_needs_ten_batches_and_a_counter_that_grows(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    add(&steady, 20, 5);
    assert_true(isnan(steady_half_width(&steady)));
    add(&steady, 1, 5);
    assert_true(steady_half_width(&steady) < 1e-9);
    steady_finish(&steady);
    add(&steady, 50, 0);
    assert_true(isnan(steady_half_width(&steady)));
    steady_finish(&steady);
}

static void growth_is_the_slope(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    add(&steady, 2, 1);
    assert_true(isnan(steady_growth(&steady)));
    steady_finish(&steady);
    for (int i = 0; i < 100; i++) /* grows by 3 per second, plus noise of 1 or -1 */
        steady_add(&steady, (int64_t)i * 1000000000, 50 + 3 * i + (i % 2 == 0 ? 1 : -1));
    assert_true(fabs(steady_growth(&steady) - 3) < 0.001);
    steady_finish(&steady);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreement_needs_two_windows),
        cmocka_unit_test(rate_is_measured_over_the_latest_window),
        cmocka_unit_test(windows_disagree_until_both_have_the_new_rate),
        cmocka_unit_test(a_counter_that_does_not_grow_is_not_steady),
        cmocka_unit_test(the_interval_contains_the_true_rate_in_over_90_percent_of_runs),
        cmocka_unit_test(the_interval_needs_ten_batches_and_a_counter_that_grows),
        cmocka_unit_test(growth_is_the_slope),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
