/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/matrix.h"
#include "tests/unit/support/cells.h"

static struct text written(const struct cells *cells, enum quantity_id quantity)
{
    struct text text = { 0 };
    struct cell_grid grid;

    cell_grid_init(&grid, cells->rows, cells->count);
    matrix_write(&grid, 0, quantity, &text);
    cell_grid_finish(&grid);
    return text;
}

static void says_why_there_is_no_figure(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100);
    cell_measured(&cells, 8, 4, 390, 110)->measurement.client_limited = true;
    cell_failed(&cells, 16, 4, FAILURE_RESET, "");
    cell_add(&cells, 1, 128, 100, 0, CELL_INFEASIBLE);
    cell_add(&cells, 8, 128, 100, 0, CELL_SKIPPED);
    text = written(&cells, QUANTITY_OUTPUT_TOKENS);
    assert_string_equal(text_string(&text),
                        "### Throughput, output tokens/s\n\n"
                        "| context \\ users |        1 |       8 |     16 |\n"
                        "| --------------: | -------: | ------: | -----: |\n"
                        "|               4 |     50.0 |    390! | failed |\n"
                        "|             128 | too long | skipped |      - |\n\n");
}

static void marks_short_answers_as_short(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100)->measurement.output_tokens_mean = 3;
    text = written(&cells, QUANTITY_ITL_P50);
    assert_non_null(strstr(text_string(&text), "| short |"));
}

/* There is no ITL if chunks have several tokens and the server does not say how many. */
static void long_answers_without_itl_are_not_marked_as_short(void **state)
{
    struct cells cells = { 0 };
    struct measurement *measurement;
    TEXT_AUTO text = { 0 };

    (void)state;
    measurement = &cell_measured(&cells, 1, 4, 50, 100)->measurement;
    measurement->output_tokens_mean = 100;
    measurement->latency[METRIC_ITL].p50_ms = NAN;
    text = written(&cells, QUANTITY_ITL_P50);
    assert_null(strstr(text_string(&text), "short"));
    assert_non_null(strstr(text_string(&text), " - |"));
}

/* The number of characters, not bytes, of the longest line. */
static size_t widest_line(const char *text)
{
    size_t widest = 0;

    for (; *text != '\0'; text += strcspn(text, "\n") + 1) {
        size_t width = 0;

        for (const char *c = text; *c != '\n'; c++)
            width += ((unsigned char)*c & 0xc0) != 0x80;
        widest = width > widest ? width : widest;
    }
    return widest;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    while ((text = strstr(text, part)) != NULL) {
        count++;
        text++;
    }
    return count;
}

static void splits_tables_wider_than_100_characters(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    for (int64_t repetition = 0; repetition < 2; repetition++)
        for (int64_t users = 1; users <= 2048; users *= 2)
            cell_measured(&cells, users, 7777, 10000.0 * (double)users, 100)->repetition =
                repetition;
    text = written(&cells, QUANTITY_OUTPUT_TOKENS);
    assert_in_range(widest_line(text_string(&text)), 60, 100);
    assert_true(count_of(text_string(&text), "context \\ users") >= 2);
    for (int64_t users = 1; users <= 2048; users *= 2) {
        char heading[32];

        snprintf(heading, sizeof heading, " %lld |", (long long)users);
        assert_int_equal(count_of(text_string(&text), heading), 1);
    }
}

static void the_json_shows_missing_figures_lower_bounds_and_states(void **state)
{
    struct cells cells = { 0 };
    json_auto_t *matrix = NULL, *states = NULL;
    const json_t *row;
    struct cell_grid grid;

    (void)state;
    cell_measured(&cells, 1, 4, 50, 100)->measurement.latency[METRIC_E2E].p99_censored = true;
    cell_failed(&cells, 8, 4, FAILURE_RESET, "");
    cell_grid_init(&grid, cells.rows, cells.count);
    matrix = matrix_to_json(&grid, 0, QUANTITY_E2E_P99);
    states = matrix_states(&grid, 0);
    cell_grid_finish(&grid);
    row = json_array_get(json_object_get(matrix, "mean"), 0);
    assert_float_equal(json_number_value(json_array_get(row, 0)), 200, 1e-9);
    assert_true(json_is_null(json_array_get(row, 1)));
    assert_null(json_object_get(matrix, "min"));
    row = json_array_get(json_object_get(matrix, "at_least"), 0);
    assert_int_equal(json_integer_value(json_array_get(row, 0)), 4);
    assert_int_equal(json_integer_value(json_array_get(row, 1)), 1);
    row = json_array_get(states, 0);
    assert_string_equal(json_string_value(json_array_get(row, 0)), "measured");
    assert_string_equal(json_string_value(json_array_get(row, 1)), "failed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_there_is_no_figure),
        cmocka_unit_test(marks_short_answers_as_short),
        cmocka_unit_test(long_answers_without_itl_are_not_marked_as_short),
        cmocka_unit_test(splits_tables_wider_than_100_characters),
        cmocka_unit_test(the_json_shows_missing_figures_lower_bounds_and_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
