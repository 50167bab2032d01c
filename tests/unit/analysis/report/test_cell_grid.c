/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/cell_grid.h"
#include "tests/unit/support/cells.h"

static void puts_each_cell_at_its_point_in_the_grid(void **state)
{
    struct cells cells = { 0 };
    struct cell_grid grid;
    struct grid_point point;

    (void)state;
    cell_measured(&cells, 8, 512, 800, 1000);
    cell_measured(&cells, 1, 512, 100, 1000);
    cell_measured(&cells, 8, 4, 900, 900);
    cell_add(&cells, 8, 512, 100, 2, CELL_FAILED);
    cell_grid_init(&grid, cells.rows, cells.count);
    assert_int_equal(grid.loads.count, 2);
    assert_int_equal(grid.loads.values[0], 1);
    assert_int_equal(grid.contexts.count, 2);
    assert_int_equal(grid.contexts.values[0], 4);
    assert_int_equal(grid.outputs.count, 1);
    assert_int_equal(grid.repetitions.count, 2);

    point = cell_grid_point(&grid, 0, 1, 1);
    assert_int_equal(point.load, 8);
    assert_int_equal(point.context_tokens, 512);
    assert_int_equal(point.count, 2);
    assert_ptr_equal(point.cells[0], &cells.rows[0]);
    assert_ptr_equal(point.cells[1], &cells.rows[3]);
    assert_int_equal(grid_point_state(&point), CELL_MEASURED);

    point = cell_grid_point(&grid, 0, 0, 0); /* a point without cells */
    assert_null(point.cells[0]);
    assert_int_equal(grid_point_state(&point), CELL_PENDING);
    assert_string_equal(grid_point_word(&point), "-");
    cell_grid_finish(&grid);
}

static void an_empty_sweep_is_an_empty_grid(void **state)
{
    struct cell_grid grid;

    (void)state;
    cell_grid_init(&grid, NULL, 0);
    assert_int_equal(grid.loads.count, 0);
    assert_int_equal(grid.outputs.count, 0);
    cell_grid_finish(&grid);
}

static void a_point_combines_the_states_of_its_repetitions(void **state)
{
    static const struct {
        enum cell_state first, second, together;
        const char *word;
    } rows[] = {
        { CELL_MEASURED, CELL_FAILED, CELL_MEASURED, "-" },
        { CELL_INFEASIBLE, CELL_FAILED, CELL_FAILED, "failed" },
        { CELL_INFEASIBLE, CELL_INFEASIBLE, CELL_INFEASIBLE, "too long" },
        { CELL_PENDING, CELL_SKIPPED, CELL_SKIPPED, "skipped" },
        { CELL_PENDING, CELL_PENDING, CELL_PENDING, "-" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cells cells = { 0 };
        struct cell_grid grid;
        struct grid_point point;

        cell_add(&cells, 1, 1, 1, 0, rows[i].first);
        cell_add(&cells, 1, 1, 1, 1, rows[i].second);
        cell_grid_init(&grid, cells.rows, cells.count);
        point = cell_grid_point(&grid, 0, 0, 0);
        assert_int_equal(grid_point_state(&point), rows[i].together);
        assert_string_equal(grid_point_word(&point), rows[i].word);
        cell_grid_finish(&grid);
    }
}

static void a_point_that_lost_more_than_1_percent_of_its_requests_is_not_sound(void **state)
{
    struct cells cells = { 0 };
    struct cell_grid grid;
    struct grid_point point;

    (void)state;
    cell_measured(&cells, 1, 4, 100, 100)->measurement.success_rate = 0.991;
    cell_measured(&cells, 1, 4, 100, 100)->measurement.success_rate = 0.989;
    cells.rows[1].repetition = 1;
    cell_grid_init(&grid, cells.rows, 1);
    point = cell_grid_point(&grid, 0, 0, 0);
    assert_true(grid_point_is_sound(&point));
    cell_grid_finish(&grid);
    cell_grid_init(&grid, cells.rows, 2);
    point = cell_grid_point(&grid, 0, 0, 0);
    assert_false(grid_point_is_sound(&point));
    cell_grid_finish(&grid);
}

static void names_the_most_frequent_class_of_failure(void **state)
{
    struct cell_row cell = { 0 };

    (void)state;
    assert_int_equal(cell_grid_failure(&cell), FAILURE_NONE);
    cell.measurement.failures[FAILURE_RESET] = 3;
    cell.measurement.failures[FAILURE_OVERLOADED_503] = 9;
    assert_int_equal(cell_grid_failure(&cell), FAILURE_OVERLOADED_503);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_each_cell_at_its_point_in_the_grid),
        cmocka_unit_test(an_empty_sweep_is_an_empty_grid),
        cmocka_unit_test(a_point_combines_the_states_of_its_repetitions),
        cmocka_unit_test(a_point_that_lost_more_than_1_percent_of_its_requests_is_not_sound),
        cmocka_unit_test(names_the_most_frequent_class_of_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
