/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "client/terminal/display_width.h"
#include "client/terminal/line_chart.h"
#include "client/terminal/progress_bar.h"

#define ROWS 4

static int set_up(void **state)
{
    (void)state;
    display_width_begin();
    return 0;
}

static void assert_chart(const double *values, size_t count, size_t columns,
                         const char *const *expected)
{
    struct text lines[ROWS] = { 0 };

    line_chart_render(values, count, columns, ROWS, lines);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(display_width(text_string(&lines[i]), lines[i].length), columns);
        if (expected != NULL)
            assert_string_equal(text_string(&lines[i]), expected[i]);
        text_finish(&lines[i]);
    }
}

static void the_scale_runs_from_zero_to_a_round_number(void **state)
{
    static const double values[] = { 0, 5, 10, 10 };
    static const char *const expected[] = { "   10│ ⡏", "     │⢀⠇", "     │⢸ ", "    0│⡸ " };

    (void)state;
    assert_chart(values, 4, 8, expected);
}

static void every_row_has_the_full_width_whatever_the_values(void **state)
{
    static const double wild[] = { NAN, 1e300, -5, INFINITY, 0, 1e-300, 7, NAN };
    double many[1000];

    (void)state;
    for (size_t columns = 7; columns < 40; columns++)
        assert_chart(wild, 8, columns, NULL);
    for (size_t i = 0; i < 1000; i++)
        many[i] = (double)(i % 37);
    assert_chart(many, 1000, 30, NULL);
    assert_chart(many, 0, 30, NULL);
}

static void figures_are_short(void **state)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 0, "0" },        { 0.25, "0.25" },   { 12.345, "12.3" }, { 400, "400" },
                  { 1234, "1234" },  { 12345, "12.3k" }, { 2.5e6, "2.5M" },  { NAN, "-" },
                  { INFINITY, "-" }, { 999.4, "999" },   { 999.6, "1000" },  { 9999.7, "10000" },
                  { 999.6e3, "1M" }, { 999.6e6, "1G" },  { 999.6e9, "1T" } };
    char out[LINE_CHART_FIGURE_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(line_chart_figure(cases[i].value, out), cases[i].text);
}

static void a_progress_bar_fits_the_terminal_and_has_no_escape_sequence(void **state)
{
    static const double done[] = { -1, 0, 2.5, 6, 9 };

    (void)state;
    for (size_t columns = 20; columns < 200; columns += 9)
        for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
            const struct terminal terminal = { .is_terminal = true, .columns = columns };
            TEXT_AUTO out = { 0 };

            progress_bar_add(&terminal, done[i], 6, "cell 3 of 6: \033[2J \xe4\xb8\xad long words",
                             &out);
            assert_true(display_width(text_string(&out), out.length) < columns);
            assert_null(strchr(text_string(&out), '\033'));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_runs_from_zero_to_a_round_number),
        cmocka_unit_test(every_row_has_the_full_width_whatever_the_values),
        cmocka_unit_test(figures_are_short),
        cmocka_unit_test(a_progress_bar_fits_the_terminal_and_has_no_escape_sequence),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
