/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/charts/scale.h"

static void shows(double value, const char *expected)
{
    char number[SCALE_NUMBER_SIZE];

    assert_string_equal(scale_number(value, number), expected);
}

static void at_least_three_digits_are_shown(void **state)
{
    (void)state;
    shows(0, "0");
    shows(0.04132, "0.0413");
    shows(0.99996, "1.00");
    shows(9.996, "10.0");
    shows(22.66, "22.7");
    shows(1479.6, "1480");
    shows(9999.6, "10.0k");
    shows(14800, "14.8k");
    shows(999600, "1.00M");
    shows(-2.5, "-2.50");
    shows(NAN, "-");
    shows(INFINITY, "-");
    shows(1e300, "1.00e300");
    shows(1.234e-7, "1.23e-7");
    shows(-9.996e-6, "-1.00e-5");
}

static void requested_values_are_shown_in_full(void **state)
{
    char number[SCALE_NUMBER_SIZE];

    (void)state;
    assert_string_equal(scale_exact(131072, number), "131072");
    assert_string_equal(scale_exact(2.5, number), "2.5");
    assert_string_equal(scale_exact(0.0625, number), "0.0625");
}

static void fits(double low, double high, bool is_log, double expected_low, double expected_high,
                 const char *last_tick)
{
    struct scale_range range = { .is_log = is_log };
    double ticks[SCALE_TICKS_MAX];
    char number[SCALE_NUMBER_SIZE];
    struct scale scale;
    size_t count;

    scale_range_add(&range, low);
    scale_range_add(&range, high);
    scale_range_add(&range, NAN);
    scale = scale_fit(&range, 0, 100);
    assert_true(fabs(scale.low - expected_low) < 1e-9 * expected_high);
    assert_true(fabs(scale.high - expected_high) < 1e-9 * expected_high);
    count = scale_ticks(&scale, ticks);
    assert_true(count >= 2 && count <= SCALE_TICKS_MAX);
    assert_string_equal(scale_tick_name(ticks[count - 1], number), last_tick);
    assert_true(fabs(scale_at(&scale, scale.high) - 100) < 1e-6);
}

static void axes_end_at_round_values(void **state)
{
    (void)state;
    fits(3, 23.5, false, 0, 25, "25");
    fits(0.1, 0.1, false, 0, 0.1, "0.1");
    fits(3, 3050, false, 0, 3500, "3000");
    fits(3, 31, false, 0, 35, "30");
    fits(14.4, 16000, true, 10, 30000, "30k");
    fits(3, 4, true, 2, 5, "5");
    fits(53, 99, true, 50, 100, "100");
    fits(100, 100, true, 80, 150, "150");
    fits(20.1, 22.5, true, 15, 30, "30");
    fits(9.7, 9.9, true, 6, 15, "15");
    fits(1e-7, 1e13, true, 1e-7, 1e13, "1T");
}

static void the_part_of_an_axis_that_is_kept_clear_has_no_ticks(void **state)
{
    (void)state;
    for (int is_log = 0; is_log < 2; is_log++) {
        struct scale_range range = { .is_log = is_log };
        struct scale scale, before;
        double ticks[SCALE_TICKS_MAX];
        size_t count;

        scale_range_add(&range, 20);
        scale_range_add(&range, 99);
        scale = before = scale_fit(&range, 300, 100);
        scale_keep_clear(&scale, 40);
        assert_float_equal(scale_at(&scale, before.high), 140, 1e-6);
        assert_float_equal(scale_at(&scale, scale.low), 300, 1e-6);
        count = scale_ticks(&before, ticks);
        assert_int_equal(scale_ticks(&scale, ticks), count);
        assert_float_equal(ticks[count - 1], before.high, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_least_three_digits_are_shown),
        cmocka_unit_test(requested_values_are_shown_in_full),
        cmocka_unit_test(axes_end_at_round_values),
        cmocka_unit_test(the_part_of_an_axis_that_is_kept_clear_has_no_ticks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
