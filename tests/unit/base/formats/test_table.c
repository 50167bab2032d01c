/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/formats/table.h"

static int set_up(void **state)
{
    *state = table_create();
    return 0;
}

static int tear_down(void **state)
{
    table_destroy(*state);
    return 0;
}

static void assert_rendered(const struct table *table, const char *expected)
{
    TEXT_AUTO out = { 0 };

    table_render(table, &out);
    assert_string_equal(text_string(&out), expected);
}

static void pads_columns_and_aligns_numbers_to_the_right(void **state)
{
    struct table *table = *state;

    table_column(table, "model", false);
    table_column(table, "tok/s", true);
    table_cell(table, "%s", "gemma-3-27b");
    table_cell(table, "%.1f", 1234.5);
    table_cell(table, "%s", "x");
    table_cell(table, "%d", 7);
    assert_rendered(table, "| model       |  tok/s |\n"
                           "| ----------- | -----: |\n"
                           "| gemma-3-27b | 1234.5 |\n"
                           "| x           |      7 |\n");
}

static void counts_characters_not_bytes(void **state)
{
    struct table *table = *state;

    table_column(table, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", false);
    table_cell(table, "%s", "\xe2\x82\xac");
    assert_rendered(table, "| \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f |\n"
                           "| ---- |\n"
                           "| \xe2\x82\xac    |\n");
}

static void untrusted_text_cannot_break_out_of_its_cell(void **state)
{
    struct table *table = *state;

    table_column(table, "a|b", false);
    table_cell(table, "%s", "x | y\nz\x1b");
    assert_rendered(table, "| a\\|b      |\n"
                           "| --------- |\n"
                           "| x \\| y z  |\n");
}

static void fills_up_an_incomplete_last_row(void **state)
{
    struct table *table = *state;

    table_column(table, "one", false);
    table_column(table, "two", true);
    table_cell(table, "%d", 1);
    assert_rendered(table, "| one | two |\n"
                           "| --- | --: |\n"
                           "| 1   |     |\n");
}

static void an_empty_table_has_its_headings(void **state)
{
    table_column(*state, "a", false);
    assert_rendered(*state, "| a   |\n| --- |\n");
    table_destroy(NULL);
}

static void renders_many_rows(void **state)
{
    TEXT_AUTO out = { 0 };

    table_column(*state, "n", true);
    for (int i = 0; i < 1000; i++)
        table_cell(*state, "%d", i);
    table_render(*state, &out);
    assert_int_equal(out.length, 1002 * 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pads_columns_and_aligns_numbers_to_the_right),
        TEST(counts_characters_not_bytes),
        TEST(untrusted_text_cannot_break_out_of_its_cell),
        TEST(fills_up_an_incomplete_last_row),
        TEST(an_empty_table_has_its_headings),
        TEST(renders_many_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
