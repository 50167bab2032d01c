/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/repetition_stats.h"
#include "tests/unit/support/cells.h"

/* The statistics of the first point, over its repetitions. */
static struct repetition_stats stats_of(const struct cells *cells, enum quantity_id quantity)
{
    struct cell_grid grid;
    struct grid_point point;
    struct repetition_stats figure;

    cell_grid_init(&grid, cells->rows, cells->count);
    point = cell_grid_point(&grid, 0, 0, 0);
    figure = repetition_stats_of(&point, quantity);
    cell_grid_finish(&grid);
    return figure;
}

static void assert_written(const struct repetition_stats *figure, const char *wanted)
{
    TEXT_AUTO text = { 0 };

    repetition_stats_write(figure, &text);
    assert_string_equal(text_string(&text), wanted);
}

static void shows_repetitions_with_mean_and_confidence_interval(void **state)
{
    static const double values[] = { 100, 110, 120 };
    struct cells cells = { 0 };
    struct repetition_stats figure;

    (void)state;
    for (int64_t i = 0; i < 3; i++)
        cell_measured(&cells, 1, 4, values[i], 100)->repetition = i;
    figure = stats_of(&cells, QUANTITY_OUTPUT_TOKENS);
    assert_int_equal(figure.count, 3);
    assert_float_equal(figure.mean, 110, 1e-9);
    assert_float_equal(figure.low, 100, 1e-9);
    assert_float_equal(figure.high, 120, 1e-9);
    assert_float_equal(figure.half_width, 4.303 * 10 / sqrt(3), 1e-2); /* Student's t */
    assert_written(&figure, "110 \xc2\xb1"
                            "24.8");
}

static void shows_no_spread_for_one_repetition(void **state)
{
    struct cells cells = { 0 };
    struct repetition_stats figure;

    (void)state;
    cell_measured(&cells, 1, 4, 1234.4, 100);
    figure = stats_of(&cells, QUANTITY_OUTPUT_TOKENS);
    assert_true(isnan(figure.half_width));
    assert_written(&figure, "1234");
}

static void never_includes_the_speed_of_a_failed_repetition(void **state)
{
    struct cells cells = { 0 };
    struct repetition_stats figure;

    (void)state;
    cell_measured(&cells, 1, 4, 30.9, 100);
    cell_failed(&cells, 1, 4, FAILURE_RESET, "")->repetition = 1;
    figure = stats_of(&cells, QUANTITY_OUTPUT_TOKENS);
    assert_int_equal(figure.count, 1);
    assert_written(&figure, "30.9");
    cells.rows[0].state = CELL_FAILED;
    figure = stats_of(&cells, QUANTITY_OUTPUT_TOKENS);
    assert_int_equal(figure.count, 0);
    assert_true(isnan(figure.mean));
}

static void says_that_a_cut_off_latency_is_a_lower_bound(void **state)
{
    struct cells cells = { 0 };
    struct repetition_stats figure;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 30000)->measurement.latency[METRIC_E2E].p99_censored = true;
    figure = stats_of(&cells, QUANTITY_E2E_P99);
    assert_true(figure.at_least);
    assert_written(&figure, ">=60000");
    figure = stats_of(&cells, QUANTITY_E2E_P50);
    assert_written(&figure, "30000");
}

static void a_p99_of_few_requests_has_a_tilde(void **state)
{
    struct cells cells = { 0 };
    struct repetition_stats figure;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 200)->measurement.latency[METRIC_E2E].count = 99;
    figure = stats_of(&cells, QUANTITY_E2E_P99);
    assert_written(&figure, "400~");
    figure = stats_of(&cells, QUANTITY_E2E_P50);
    assert_written(&figure, "200");
}

static void has_no_decoding_figures_below_16_output_tokens(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 220)->measurement.output_tokens_mean = 15.9;
    assert_int_equal(stats_of(&cells, QUANTITY_ITL_P50).count, 0);
    assert_int_equal(stats_of(&cells, QUANTITY_TPOT_P50).count, 0);
    assert_int_equal(stats_of(&cells, QUANTITY_TTFT_P50).count, 1);
    cells.rows[0].measurement.output_tokens_mean = 16;
    assert_float_equal(stats_of(&cells, QUANTITY_ITL_P50).mean, 2, 1e-9);
    assert_float_equal(stats_of(&cells, QUANTITY_ITL_P99).mean, 4, 1e-9);
    assert_float_equal(stats_of(&cells, QUANTITY_TTFT_P99).mean, 44, 1e-9);
}

static void larger_numbers_have_fewer_decimals(void **state)
{
    char out[NUMBER_SIZE];

    (void)state;
    assert_string_equal(repetition_stats_number(0, out), "0.00");
    assert_string_equal(repetition_stats_number(9.994, out), "9.99");
    assert_string_equal(repetition_stats_number(9.996, out), "10.0");
    assert_string_equal(repetition_stats_number(99.94, out), "99.9");
    assert_string_equal(repetition_stats_number(99.96, out), "100");
    assert_string_equal(repetition_stats_number(123456.7, out), "123457");
    assert_string_equal(repetition_stats_number(NAN, out), "-");
    assert_string_equal(repetition_stats_number(1e300, out), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_repetitions_with_mean_and_confidence_interval),
        cmocka_unit_test(shows_no_spread_for_one_repetition),
        cmocka_unit_test(never_includes_the_speed_of_a_failed_repetition),
        cmocka_unit_test(says_that_a_cut_off_latency_is_a_lower_bound),
        cmocka_unit_test(a_p99_of_few_requests_has_a_tilde),
        cmocka_unit_test(has_no_decoding_figures_below_16_output_tokens),
        cmocka_unit_test(larger_numbers_have_fewer_decimals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
