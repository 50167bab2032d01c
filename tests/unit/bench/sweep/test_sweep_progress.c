/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/sweep_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CELL_S 10
#define CELLS 10

/* Checks the estimate of the time left when `done` of the sweep's cells are done. The first
 * `inferred` of these were inferred; the others took CELL_S seconds each. The current cell began
 * elapsed_s ago. */
static void expect(enum plan_search search, size_t done, size_t inferred, double elapsed_s,
                   const char *expected)
{
    struct cell_row cells[CELLS] = { 0 };
    const struct sweep_work work = {
        .plan = { .search = search, .window_s = 5 },
        .cells = cells,
        .count = CELLS,
        .done = done,
        .cells_run = (int64_t)(done - inferred),
        .cells_s = CELL_S * (double)(done - inferred),
    };
    TEXT_AUTO text = { 0 };

    for (size_t i = 0; i < done; i++)
        cells[i].state = i < inferred ? CELL_INFERRED : CELL_MEASURED;
    sweep_progress_time_left(&work, elapsed_s, &text);
    assert_string_equal(text_string(&text), expected);
}

static void the_remaining_cells_are_expected_to_take_as_long_as_the_earlier_ones(void **state)
{
    (void)state;
    expect(SEARCH_FULL, 4, 0, 0, "; 60 s left");
    expect(SEARCH_FULL, 4, 0, 7, "; 53 s left");
    expect(SEARCH_FULL, 1, 0, 0, "; 2 min left");
    expect(SEARCH_FULL, 9, 0, 7, "; 3 s left");
}

static void a_cell_that_takes_longer_does_not_reduce_the_time_for_later_cells(void **state)
{
    (void)state;
    expect(SEARCH_FULL, 4, 0, CELL_S, "; 50 s left");
    expect(SEARCH_FULL, 4, 0, 6 * CELL_S, "; 50 s left");
    expect(SEARCH_FULL, 4, 0, 600, "; 50 s left");
}

static void the_time_left_is_omitted_if_it_is_unknown_or_below_half_a_second(void **state)
{
    (void)state;
    expect(SEARCH_FULL, 0, 0, 3, "");
    expect(SEARCH_FULL, 9, 0, 600, "");
    expect(SEARCH_FULL, 9, 0, CELL_S - 0.2, "");
}

static void a_search_assumes_the_share_of_cells_inferred_so_far_or_else_a_guess(void **state)
{
    (void)state;
    expect(SEARCH_ADAPTIVE, 4, 2, 0, "; 35 s left");
    expect(SEARCH_ADAPTIVE, 2, 0, 4, "; 24 s left");
    expect(SEARCH_ADAPTIVE, 9, 6, 4, "; 6 s left");
    expect(SEARCH_ADAPTIVE, 4, 2, 600, "; 25 s left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_remaining_cells_are_expected_to_take_as_long_as_the_earlier_ones),
        cmocka_unit_test(a_cell_that_takes_longer_does_not_reduce_the_time_for_later_cells),
        cmocka_unit_test(the_time_left_is_omitted_if_it_is_unknown_or_below_half_a_second),
        cmocka_unit_test(a_search_assumes_the_share_of_cells_inferred_so_far_or_else_a_guess),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
