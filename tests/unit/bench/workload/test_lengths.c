/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/workload/lengths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DRAWS 100000

/* Draws many lengths. Their mean and standard deviation are relative to the requested mean. */
static void draw_many(const struct lengths *lengths, double *mean, double *deviation, int64_t *low,
                      int64_t *high)
{
    struct generator generator;
    double sum = 0, squares = 0;

    generator_init(&generator, 7);
    *low = INT64_MAX;
    *high = 0;
    for (int i = 0; i < DRAWS; i++) {
        int64_t value = lengths_draw(lengths, &generator);
        double share = (double)value / (double)lengths->mean;

        sum += share;
        squares += share * share;
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
    *mean = sum / DRAWS;
    *deviation = sqrt(squares / DRAWS - *mean * *mean);
}

static void fixed_lengths_equal_the_mean(void **state)
{
    const struct lengths lengths = { DISTRIBUTION_FIXED, 77, 0 };
    struct generator generator;

    (void)state;
    generator_init(&generator, 1);
    assert_int_equal(lengths_draw(&lengths, &generator), 77);
    assert_int_equal(lengths_longest(&lengths), 77);
}

static void uniform_lengths_fill_their_range_evenly(void **state)
{
    const struct lengths lengths = { DISTRIBUTION_UNIFORM, 1000, 0.3 };
    double mean, deviation;
    int64_t low, high;

    (void)state;
    draw_many(&lengths, &mean, &deviation, &low, &high);
    assert_true(fabs(mean - 1) < 0.005);
    assert_true(fabs(deviation - 0.3 / sqrt(3)) < 0.005);
    assert_int_equal(low, 700);
    assert_int_equal(high, 1300);
    assert_int_equal(lengths_longest(&lengths), 1300);
}

static void lognormal_lengths_have_the_requested_mean_and_deviation(void **state)
{
    const struct lengths lengths = { DISTRIBUTION_LOGNORMAL, 1000, 0.8 };
    double mean, deviation;
    int64_t low, high;

    (void)state;
    draw_many(&lengths, &mean, &deviation, &low, &high);
    assert_true(fabs(mean - 1) < 0.01);
    assert_true(fabs(deviation - 0.8) < 0.03);
    assert_true(low >= 1 && low < 150);
    assert_true(high > 5000 && high <= lengths_longest(&lengths));
}

static void no_length_is_below_one_token(void **state)
{
    const struct lengths short_ones = { DISTRIBUTION_LOGNORMAL, 1, 2 };
    const struct lengths wide = { DISTRIBUTION_UNIFORM, 3, 1 };
    double mean, deviation;
    int64_t low, high;

    (void)state;
    draw_many(&short_ones, &mean, &deviation, &low, &high);
    assert_int_equal(low, 1);
    draw_many(&wide, &mean, &deviation, &low, &high);
    assert_int_equal(low, 1);
    assert_int_equal(high, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_lengths_equal_the_mean),
        cmocka_unit_test(uniform_lengths_fill_their_range_evenly),
        cmocka_unit_test(lognormal_lengths_have_the_requested_mean_and_deviation),
        cmocka_unit_test(no_length_is_below_one_token),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
