/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/saturation.h"
#include "tests/unit/support/cells.h"

static struct saturation of_first_context(const struct cells *cells)
{
    struct cell_grid grid;
    struct saturation out;

    cell_grid_init(&grid, cells->rows, cells->count);
    out = saturation_find(&grid, 0, 0);
    cell_grid_finish(&grid);
    return out;
}

static void check_sentence(const struct saturation *s, const char *expected)
{
    TEXT_AUTO text = { 0 };

    saturation_sentence(s, &text);
    assert_string_equal(text_string(&text), expected);
}

/* The server runs 4 requests at once. From 1 user to 16 users, tokens/s grew fourfold, but 12 of
 * the 16 users wait. */
static void a_queue_shows_saturation_even_if_throughput_grew(void **state)
{
    char witness[] = "{\"state\":\"full\",\"requests_waiting_mean\":12}";
    struct cells cells = { 0 };
    struct cell_row *few, *many;

    (void)state;
    few = cell_measured(&cells, 1, 4, 50, 2000);
    many = cell_measured(&cells, 16, 4, 200, 8000);
    few->measurement.latency[METRIC_TTFT].p50_ms = 20;
    many->measurement.latency[METRIC_TTFT].p50_ms = 20; /* only the counters show the queue */
    many->witness = witness;
    struct saturation s = of_first_context(&cells);
    check_sentence(&s, "saturated between 4 and 16 users (measure 6, 8, 12 next); the server runs "
                       "about 4 requests at once");
    many->witness = NULL;
    many->measurement.latency[METRIC_TTFT].p50_ms = 6020; /* only the latency shows it */
    s = of_first_context(&cells);
    check_sentence(&s, "saturated between 4 and 16 users (measure 6, 8, 12 next); the server runs "
                       "about 4 requests at once");
    many->measurement.latency[METRIC_TTFT].p50_ms = 20; /* nothing shows it */
    s = of_first_context(&cells);
    check_sentence(
        &s, "not saturated below 4; throughput may still be growing at 16 users, the largest "
            "measured load (measure 32, 64 next)");
}

/* The counters come from only one of several instances. */
static void a_partial_cross_check_says_nothing_about_the_queue(void **state)
{
    char witness[] = "{\"state\":\"partial\",\"requests_waiting_mean\":12}";
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 2000);
    cell_measured(&cells, 16, 4, 200, 8000)->witness = witness;
    assert_false(of_first_context(&cells).verdict.reached);
}

static void finds_the_smallest_load_that_is_certainly_saturated(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 8, 4, 399, 110);
    cell_measured(&cells, 64, 4, 1900, 199);
    cell_measured(&cells, 256, 4, 2000, 200);
    cell_measured(&cells, 512, 4, 1990, 800);
    s = of_first_context(&cells);
    assert_true(s.found);
    assert_true(s.verdict.reached);
    /* With fewer users, 95 % of the peak would be reached only if each user got more tokens/s than
     * each of 8 users did. */
    assert_true(s.verdict.low == 38);
    assert_true(s.verdict.high == 256);
    assert_int_equal(s.at.load, 256);
    assert_float_equal(s.output_tokens_per_s, 2000, 1e-9);
    assert_float_equal(s.peak_tokens_per_s, 2000, 1e-9);
    assert_int_equal(s.peak.load, 256);
    assert_int_equal(s.doubled_load, 256); /* exactly twice the median of 1 user */
    check_sentence(&s, "saturated between 38 and 256 users (measure 48, 96, 128 next)");
}

static void the_largest_load_is_not_taken_for_saturation(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 2, 4, 99, 101);
    s = of_first_context(&cells);
    assert_true(s.found);
    assert_false(s.verdict.reached);
    assert_true(s.verdict.low == 2);
    assert_int_equal(s.at.load, 2);
    assert_int_equal(s.doubled_load, 0);
    check_sentence(&s,
                   "not saturated below 2; throughput may still be growing at 2 users, the largest "
                   "measured load (measure 4, 8 next)");
}

static void an_open_loop_whose_queue_grows_is_saturated(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 5, 4, 105, 100);
    cell_measured(&cells, 12, 4, 174, 1800)->measurement.overloaded = true;
    assert_true(of_first_context(&cells).verdict.reached);
    assert_int_equal(of_first_context(&cells).at.load, 12);
}

static void larger_loads_that_lost_requests_are_reported(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 2, 4, 99, 101);
    assert_false(of_first_context(&cells).lost);
    cell_measured(&cells, 4, 4, 190, 101)->measurement.success_rate = 0.5;
    assert_false(of_first_context(&cells).verdict.reached);
    assert_true(of_first_context(&cells).lost);
}

static void the_median_may_have_doubled_at_a_smaller_unmeasured_load(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_add(&cells, 2, 4, 100, 0, CELL_INFERRED);
    cell_measured(&cells, 4, 4, 200, 210);
    cell_measured(&cells, 8, 4, 201, 400);
    s = of_first_context(&cells);
    assert_int_equal(s.at.load, 8);
    assert_true(s.verdict.low == 4);
    assert_int_equal(s.doubled_load, 4);
    assert_true(s.doubled_at_most);
}

static void one_sound_load_shows_no_saturation(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 4, 4, 50, 100);
    cell_failed(&cells, 8, 4, FAILURE_RESET, "");
    assert_false(of_first_context(&cells).found);
}

static void skips_points_that_lost_requests(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;
    struct cell_grid grid;
    struct peak peak;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 2, 4, 100, 100);
    cell_measured(&cells, 4, 4, 101, 100);
    cell_measured(&cells, 8, 4, 900, 1000)->measurement.success_rate = 0.5;
    s = of_first_context(&cells);
    assert_true(s.verdict.reached);
    assert_true(s.verdict.low == 2);
    assert_int_equal(s.at.load, 4);
    assert_int_equal(s.doubled_load, 0);
    cell_grid_init(&grid, cells.rows, cells.count);
    peak = peak_find(&grid, 0);
    assert_true(peak.found);
    assert_int_equal(peak.point.load, 4);
    cell_grid_finish(&grid);
}

static void finds_the_peak_across_all_contexts(void **state)
{
    struct cells cells = { 0 };
    struct cell_grid grid;
    struct peak peak;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 8, 4, 300, 100);
    cell_measured(&cells, 1, 512, 40, 100);
    cell_measured(&cells, 8, 512, 310, 100);
    cell_grid_init(&grid, cells.rows, cells.count);
    peak = peak_find(&grid, 0);
    assert_int_equal(peak.point.load, 8);
    assert_int_equal(peak.point.context_tokens, 512);
    assert_float_equal(peak.output_tokens_per_s, 310, 1e-9);
    cell_grid_finish(&grid);
}

static void there_is_no_peak_where_nothing_was_measured(void **state)
{
    struct cells cells = { 0 };
    struct cell_grid grid;

    (void)state;
    cell_failed(&cells, 8, 512, FAILURE_RESET, "");
    cell_grid_init(&grid, cells.rows, cells.count);
    assert_false(peak_find(&grid, 0).found);
    cell_grid_finish(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_shows_saturation_even_if_throughput_grew),
        cmocka_unit_test(a_partial_cross_check_says_nothing_about_the_queue),
        cmocka_unit_test(finds_the_smallest_load_that_is_certainly_saturated),
        cmocka_unit_test(the_largest_load_is_not_taken_for_saturation),
        cmocka_unit_test(an_open_loop_whose_queue_grows_is_saturated),
        cmocka_unit_test(larger_loads_that_lost_requests_are_reported),
        cmocka_unit_test(the_median_may_have_doubled_at_a_smaller_unmeasured_load),
        cmocka_unit_test(one_sound_load_shows_no_saturation),
        cmocka_unit_test(skips_points_that_lost_requests),
        cmocka_unit_test(finds_the_peak_across_all_contexts),
        cmocka_unit_test(there_is_no_peak_where_nothing_was_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
