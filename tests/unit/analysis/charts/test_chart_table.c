/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/charts/chart_table.h"

static void fill(struct chart_table *table)
{
    static const char *const names[] = { "users", "ttft_p50_ms", "state", NULL };

    chart_table_init(table, names);
    chart_table_number(table, 4);
    chart_table_number(table, 22.125);
    chart_table_text(table, "measured");
    chart_table_number(table, 8);
    chart_table_number(table, NAN);
    chart_table_text(table, "=HYPERLINK(\"x\")");
}

static void a_table_is_written_as_csv(void **state)
{
    struct chart_table table;
    TEXT_AUTO csv = { 0 };

    (void)state;
    fill(&table);
    chart_table_csv(&table, &csv);
    assert_string_equal(csv.data, "users,ttft_p50_ms,state\r\n4,22.125,\"measured\"\r\n"
                                  "8,,\"'=HYPERLINK(\"\"x\"\")\"\r\n");
    assert_int_equal(chart_table_rows(&table), 2);
    chart_table_finish(&table);
}

static void unknown_figures_are_missing_from_json(void **state)
{
    struct chart_table table;
    json_t *json;

    (void)state;
    fill(&table);
    json = chart_table_json(&table);
    assert_int_equal(json_array_size(json), 2);
    assert_true(json_real_value(json_object_get(json_array_get(json, 0), "ttft_p50_ms")) == 22.125);
    assert_null(json_object_get(json_array_get(json, 1), "ttft_p50_ms"));
    json_decref(json);
    chart_table_finish(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_written_as_csv),
        cmocka_unit_test(unknown_figures_are_missing_from_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
