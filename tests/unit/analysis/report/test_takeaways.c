/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/report/takeaways.h"
#include "base/core/text.h"
#include "tests/unit/support/cells.h"

/* All takeaways, one per line. */
static struct text takeaways_of(const struct cells *cells)
{
    struct text text = { 0 };
    json_t *sentences;
    const json_t *sentence;
    struct cell_grid grid;
    size_t i;

    cell_grid_init(&grid, cells->rows, cells->count);
    sentences = takeaways_find(&grid);
    json_array_foreach(sentences, i, sentence)
        text_addf(&text, "%s\n", json_string_value(sentence));
    json_decref(sentences);
    cell_grid_finish(&grid);
    return text;
}

static void writes_peak_saturation_context_and_failures(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 50, 1100);
    cell_measured(&cells, 64, 4, 2000, 2200);
    cell_measured(&cells, 256, 4, 1950, 8800);
    cell_measured(&cells, 64, 512, 1500, 4400);
    cell_failed(&cells, 256, 512, FAILURE_RESET, "");
    text = takeaways_of(&cells);
    assert_string_equal(
        text_string(&text),
        "Peak: 2000 output tokens/s (20.0 requests/s) with 64 users at context 4: TTFT p50 220 ms, "
        "then 50.0 tokens/s for each user.\n"
        "At context 4: saturated between 38 and 256 users (measure 48, 96, 128 next); additional "
        "users mostly wait; at 64 users, the E2E median has at least doubled.\n"
        "With 64 users, from context 4 to 512: output tokens/s falls by 25 %, TTFT p50 goes from "
        "220 to 440 ms.\n"
        "The smallest load, 1 user at context 4: TTFT p50 110 ms, then 100 tokens/s for each "
        "user.\n"
        "Failures begin at context 512, at 256 users: failed, reset, 40 of 50 requests failed.\n"
        "4 of 6 points of the grid were measured, 1 failed, 1 is pending.\n"
        "With only one repetition, the spread is unknown: small differences between points mean "
        "nothing.\n");
}

static void says_that_a_figure_within_half_a_percent_stays_the_same(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_measured(&cells, 64, 4, 2000, 2200);
    cell_measured(&cells, 64, 512, 1999, 2200);
    text = takeaways_of(&cells);
    assert_non_null(
        strstr(text_string(&text), "output tokens/s stays the same, TTFT p50 stays at 220 ms.\n"));
}

static void gives_the_confidence_interval_of_the_repetitions(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 100, 1000);
    cell_measured(&cells, 1, 4, 102, 1000)->repetition = 1;
    text = takeaways_of(&cells);
    assert_non_null(strstr(text_string(&text), "confidence interval of output tokens/s is \xc2\xb1"
                                               "12.6 % of its mean."));
}

static void says_that_the_spread_is_unknown_if_the_second_repetition_has_no_figures(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_measured(&cells, 1, 4, 100, 1000);
    cell_failed(&cells, 1, 4, FAILURE_RESET, "")->repetition = 1;
    text = takeaways_of(&cells);
    assert_non_null(strstr(text_string(&text), "No point has figures from two repetitions"));
    assert_null(strstr(text_string(&text), "With only one repetition"));
}

static void a_failed_single_cell_gives_its_failure_and_the_counts(void **state)
{
    struct cells cells = { 0 };
    TEXT_AUTO text = { 0 };

    (void)state;
    cell_failed(&cells, 1, 4, FAILURE_AUTH, "");
    text = takeaways_of(&cells);
    assert_string_equal(
        text_string(&text),
        "Failures begin at context 4, at 1 user: failed, auth, 40 of 50 requests failed.\n"
        "0 of 1 points of the grid were measured, 1 failed.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_peak_saturation_context_and_failures),
        cmocka_unit_test(says_that_a_figure_within_half_a_percent_stays_the_same),
        cmocka_unit_test(gives_the_confidence_interval_of_the_repetitions),
        cmocka_unit_test(says_that_the_spread_is_unknown_if_the_second_repetition_has_no_figures),
        cmocka_unit_test(a_failed_single_cell_gives_its_failure_and_the_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
