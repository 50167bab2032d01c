/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/stats/statistics.h"

static void assert_close(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g is not within %g of %.12g", found, tolerance, expected);
}

static void means_and_deviations_are_those_of_a_sample(void **state)
{
    static const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

    (void)state;
    assert_close(statistics_mean(values, 8), 5, 0);
    assert_close(statistics_deviation(values, 8), sqrt(32.0 / 7), 1e-15);
}

static void a_large_offset_does_not_spoil_the_deviation(void **state)
{
    static const double values[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };

    (void)state;
    assert_close(statistics_deviation(values, 4), sqrt(30), 1e-9);
}

static void too_few_values_give_nan(void **state)
{
    double one[] = { 3 };

    (void)state;
    assert_true(isnan(statistics_mean(one, 0)));
    assert_true(isnan(statistics_deviation(one, 1)));
}

/* The table is in the NIST/SEMATECH e-Handbook, section 1.3.6.7.2, column 0.975. */
static void t_quantiles_match_the_table(void **state)
{
    (void)state;
    assert_true(isinf(statistics_t95(0)));
    assert_close(statistics_t95(1), 12.706, 0);
    assert_close(statistics_t95(2), 4.303, 0);
    assert_close(statistics_t95(10), 2.228, 0);
    assert_close(statistics_t95(30), 2.042, 0);
    assert_close(statistics_t95(31), 2.040, 0.0006);
    assert_close(statistics_t95(40), 2.021, 0.0006);
    assert_close(statistics_t95(60), 2.000, 0.0006);
    assert_close(statistics_t95(100), 1.984, 0.0006);
    assert_close(statistics_t95(1000000), 1.960, 0.0006);
}

static void t_quantiles_fall_with_every_degree_of_freedom(void **state)
{
    (void)state;
    for (size_t i = 1; i < 200; i++)
        assert_true(statistics_t95(i) > statistics_t95(i + 1));
}

/* There are closed forms for 1 (the Cauchy distribution), 2 and 4 degrees of freedom. */
static void t_p_values_match_the_closed_forms(void **state)
{
    static const double pi = 3.14159265358979323846;

    (void)state;
    for (int i = 0; i < 18; i++) {
        double t = 0.01 * pow(1.7, i), q = t / sqrt(4 + t * t);

        assert_close(statistics_t_p(t, 1), 1 - 2 * atan(t) / pi, 1e-12);
        assert_close(statistics_t_p(-t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
        assert_close(statistics_t_p(t, 4), 1 - (3 * q - q * q * q) / 2, 1e-12);
    }
    assert_close(statistics_t_p(0, 3), 1, 0);
    assert_true(isnan(statistics_t_p(1, 0)));
    assert_true(isnan(statistics_t_p(NAN, 3)));
}

static void t_quantiles_are_defined_for_fractional_degrees_of_freedom(void **state)
{
    (void)state;
    for (size_t i = 1; i <= 30; i++)
        assert_close(statistics_t_quantile(0.05, (double)i), statistics_t95(i), 0.00051);
    assert_close(statistics_t_quantile(0.01, 10), 3.169, 0.0005);
    for (int i = 0; i < 62; i++) {
        double n = pow(1.3, i);

        assert_close(statistics_t_p(statistics_t_quantile(0.05, n), n), 0.05, 1e-9);
    }
    assert_true(isnan(statistics_t_quantile(0, 3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_deviations_are_those_of_a_sample),
        cmocka_unit_test(a_large_offset_does_not_spoil_the_deviation),
        cmocka_unit_test(too_few_values_give_nan),
        cmocka_unit_test(t_quantiles_match_the_table),
        cmocka_unit_test(t_quantiles_fall_with_every_degree_of_freedom),
        cmocka_unit_test(t_p_values_match_the_closed_forms),
        cmocka_unit_test(t_quantiles_are_defined_for_fractional_degrees_of_freedom),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
