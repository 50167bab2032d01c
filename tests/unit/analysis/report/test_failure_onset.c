/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/failure_onset.h"
#include "tests/unit/support/cells.h"

static void reports_the_smallest_load_that_fails_and_how(void **state)
{
    struct cells cells = { 0 };
    struct failure_onset f;
    struct cell_grid grid;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_failed(&cells, 8, 4, FAILURE_OVERLOADED_503, "queue is full");
    cell_failed(&cells, 16, 4, FAILURE_RESET, "reset");
    cell_add(&cells, 32, 4, 100, 0, CELL_SKIPPED);
    cell_add(&cells, 64, 4, 100, 0, CELL_PENDING);
    cell_grid_init(&grid, cells.rows, cells.count);
    f = failure_onset_find(&grid, 0, 0);
    assert_true(f.found);
    assert_int_equal(f.point.load, 8);
    assert_int_equal(f.failure, FAILURE_OVERLOADED_503);
    assert_int_equal(f.failed, 40);
    assert_int_equal(f.attempted, 50);
    assert_string_equal(f.message, "queue is full");
    assert_int_equal(f.further, 2);
    cell_grid_finish(&grid);
}

static void reports_lost_requests_of_a_measured_cell(void **state)
{
    struct cells cells = { 0 };
    struct failure_onset f;
    struct cell_grid grid;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100)->measurement.failures[FAILURE_IDLE_TIMEOUT] = 2;
    cell_grid_init(&grid, cells.rows, cells.count);
    f = failure_onset_find(&grid, 0, 0);
    assert_true(f.found);
    assert_int_equal(f.cell->state, CELL_MEASURED);
    assert_int_equal(f.failure, FAILURE_IDLE_TIMEOUT);
    assert_int_equal(f.failed, 2);
    cell_grid_finish(&grid);
}

static void reports_an_infeasible_cell_as_too_long(void **state)
{
    struct cells cells = { 0 };
    struct failure_onset f;
    struct cell_grid grid;

    (void)state;
    strcpy(cell_add(&cells, 1, 16384, 100, 0, CELL_INFEASIBLE)->reason,
           "16384 + 100 tokens are more than the model's context of 8192");
    cell_grid_init(&grid, cells.rows, cells.count);
    f = failure_onset_find(&grid, 0, 0);
    assert_int_equal(f.failure, FAILURE_TOO_LONG);
    assert_int_equal(f.attempted, 0);
    assert_non_null(strstr(f.message, "8192"));
    cell_grid_finish(&grid);
}

static void prefers_the_repetition_that_fared_worst(void **state)
{
    struct cells cells = { 0 };
    struct failure_onset f;
    struct cell_grid grid;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100)->measurement.failures[FAILURE_RESET] = 1;
    cell_failed(&cells, 1, 4, FAILURE_AUTH, "token expired")->repetition = 1;
    cell_grid_init(&grid, cells.rows, cells.count);
    f = failure_onset_find(&grid, 0, 0);
    assert_int_equal(f.cell->state, CELL_FAILED);
    assert_int_equal(f.failure, FAILURE_AUTH);
    cell_grid_finish(&grid);
}

static void reports_nothing_if_all_went_well(void **state)
{
    struct cells cells = { 0 };
    struct cell_grid grid;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_add(&cells, 2, 4, 100, 0, CELL_PENDING);
    cell_grid_init(&grid, cells.rows, cells.count);
    assert_false(failure_onset_find(&grid, 0, 0).found);
    cell_grid_finish(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_the_smallest_load_that_fails_and_how),
        cmocka_unit_test(reports_lost_requests_of_a_measured_cell),
        cmocka_unit_test(reports_an_infeasible_cell_as_too_long),
        cmocka_unit_test(prefers_the_repetition_that_fared_worst),
        cmocka_unit_test(reports_nothing_if_all_went_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
