#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/saturation.h"
#include "tests/unit/cells.h"

static struct saturation of_first_context(const struct cells *cells)
{
    struct grid grid;
    struct saturation out;

    grid_init(&grid, cells->rows, cells->count);
    out = saturation_find(&grid, 0, 0);
    grid_finish(&grid);
    return out;
}

static void finds_the_smallest_load_near_the_peak(void **state)
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
    assert_true(s.reached);
    assert_int_equal(s.at.load, 64); /* exactly 95 % */
    assert_float_equal(s.output_tokens_per_s, 1900, 1e-9);
    assert_float_equal(s.peak_tokens_per_s, 2000, 1e-9);
    assert_int_equal(s.peak.load, 256);
    assert_int_equal(s.doubled_load, 256); /* exactly twice */
}

static void says_that_the_greatest_load_is_no_saturation(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 2, 4, 99, 101);
    s = of_first_context(&cells);
    assert_true(s.found);
    assert_false(s.reached);
    assert_int_equal(s.at.load, 2);
    assert_int_equal(s.doubled_load, 0);
}

static void an_open_loop_whose_queue_grows_is_saturated(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 5, 4, 105, 100);
    cell_measured(&cells, 12, 4, 174, 1800)->measurement.overloaded = true;
    assert_true(of_first_context(&cells).reached);
    assert_int_equal(of_first_context(&cells).at.load, 12);
}

static void says_that_greater_loads_lost_requests(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 2, 4, 99, 101);
    assert_false(of_first_context(&cells).lost);
    cell_measured(&cells, 4, 4, 190, 101)->measurement.success_rate = 0.5;
    assert_false(of_first_context(&cells).reached);
    assert_true(of_first_context(&cells).lost);
}

static void says_what_was_not_measured_below(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_add(&cells, 2, 4, 100, 0, CELL_INFERRED);
    cell_measured(&cells, 4, 4, 200, 210);
    cell_measured(&cells, 8, 4, 201, 400);
    s = of_first_context(&cells);
    assert_int_equal(s.at.load, 4);
    assert_false(s.at_most); /* the search ruled it out */
    assert_int_equal(s.doubled_load, 4);
    assert_true(s.doubled_at_most);
    cells.rows[1].state = CELL_PENDING;
    assert_true(of_first_context(&cells).at_most);
}

static void says_nothing_of_a_single_load(void **state)
{
    struct cells cells = { 0 };

    (void)state;
    cell_measured(&cells, 4, 4, 50, 100);
    cell_failed(&cells, 8, 4, FAILURE_RESET, "");
    assert_false(of_first_context(&cells).found);
}

static void leaves_out_points_that_lost_requests(void **state)
{
    struct cells cells = { 0 };
    struct saturation s;
    struct grid grid;
    struct peak peak;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 2, 4, 100, 100);
    cell_measured(&cells, 4, 4, 101, 100);
    cell_measured(&cells, 8, 4, 900, 1000)->measurement.success_rate = 0.5;
    s = of_first_context(&cells);
    assert_true(s.reached);
    assert_int_equal(s.at.load, 2);
    assert_int_equal(s.doubled_load, 0);
    grid_init(&grid, cells.rows, cells.count);
    peak = peak_find(&grid, 0);
    assert_true(peak.found);
    assert_int_equal(peak.point.load, 4);
    grid_finish(&grid);
}

static void finds_the_peak_over_all_contexts(void **state)
{
    struct cells cells = { 0 };
    struct grid grid;
    struct peak peak;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 8, 4, 300, 100);
    cell_measured(&cells, 1, 512, 40, 100);
    cell_measured(&cells, 8, 512, 310, 100);
    grid_init(&grid, cells.rows, cells.count);
    peak = peak_find(&grid, 0);
    assert_int_equal(peak.point.load, 8);
    assert_int_equal(peak.point.context_tokens, 512);
    assert_float_equal(peak.output_tokens_per_s, 310, 1e-9);
    grid_finish(&grid);
}

static void there_is_no_peak_where_nothing_was_measured(void **state)
{
    struct cells cells = { 0 };
    struct grid grid;

    (void)state;
    cell_failed(&cells, 8, 512, FAILURE_RESET, "");
    grid_init(&grid, cells.rows, cells.count);
    assert_false(peak_find(&grid, 0).found);
    grid_finish(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_smallest_load_near_the_peak),
        cmocka_unit_test(says_that_the_greatest_load_is_no_saturation),
        cmocka_unit_test(an_open_loop_whose_queue_grows_is_saturated),
        cmocka_unit_test(says_that_greater_loads_lost_requests),
        cmocka_unit_test(says_what_was_not_measured_below),
        cmocka_unit_test(says_nothing_of_a_single_load),
        cmocka_unit_test(leaves_out_points_that_lost_requests),
        cmocka_unit_test(finds_the_peak_over_all_contexts),
        cmocka_unit_test(there_is_no_peak_where_nothing_was_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
