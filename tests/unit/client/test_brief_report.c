/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/command/brief_report.h"

#define TABLE "| context | 1 |\n| ---: | ---: |\n| 128 | 2 |\n\n"
#define MATRIX(name) "### " name "\n\n" TABLE

static void assert_brief(const char *report, const char *expected)
{
    TEXT_AUTO out = { 0 };

    brief_report_add(report, &out);
    assert_string_equal(text_string(&out), expected);
}

static void shows_three_matrices_for_each_output_length(void **state)
{
    (void)state;
    assert_brief("# Sweep\n\n## 16 output tokens\n\n" MATRIX("A") MATRIX("B") MATRIX("C")
                     MATRIX("D") MATRIX("E") "### Saturation\n\nAt 9\n"
                                             "## 32 output tokens\n\n" MATRIX("A") MATRIX("B")
                                                 MATRIX("C") MATRIX("D") "## End\n",
                 "# Sweep\n\n## 16 output tokens\n\n" MATRIX("A") MATRIX("B")
                     MATRIX("C") "### Saturation\n\nAt 9\n"
                                 "## 32 output tokens\n\n" MATRIX("A") MATRIX("B")
                                     MATRIX("C") "## End\n--all also shows: D; E.\n\n");
}

static void a_matrix_of_several_tables_counts_as_one(void **state)
{
    (void)state;
    assert_brief(MATRIX("A") TABLE TABLE MATRIX("B") MATRIX("C") TABLE,
                 MATRIX("A") TABLE TABLE MATRIX("B") MATRIX("C") TABLE);
    assert_brief(MATRIX("A") MATRIX("B") MATRIX("C") MATRIX("D") TABLE "## End\n",
                 MATRIX("A") MATRIX("B") MATRIX("C") "## End\n--all also shows: D.\n\n");
}

static void sections_that_repeat_the_takeaways_or_describe_the_method_are_omitted(void **state)
{
    (void)state;
    assert_brief("## Key takeaways\n\n- Peak: 9\n\n"
                 "## 16 output tokens\n\n" TABLE "### Peak\n\n9\n\n### Saturation\n\nAt 9\n\n"
                 "## Warnings\n\nNone\n\n"
                 "## What was measured\n\n- cells\n\n## How it was measured\n\n- users\n\n"
                 "Page: http://127.0.0.1\n",
                 "## Key takeaways\n\n- Peak: 9\n\n"
                 "## 16 output tokens\n\n" TABLE "## Warnings\n\nNone\n\n"
                 "--all also shows: Peak; Saturation; What was measured; How it was measured.\n\n"
                 "Page: http://127.0.0.1\n");
}

/* For an A/B sweep, the text contains one report for each deployment. Sections that are omitted
 * from both are named only once. */
static void omissions_are_named_once(void **state)
{
    (void)state;
    assert_brief("## A\n\n### Peak\n\n9\n## B\n### Peak\n\n8\n",
                 "## A\n\n## B\n--all also shows: Peak.\n\n");
}

static void other_text_is_unchanged(void **state)
{
    static const char *const texts[] = { "",          "no end of line", "## Table\n\n" TABLE TABLE,
                                         "###",       "### A",          "### A\n",
                                         "### A\n\n", "#### Peak\n",    "### Peak of it\n" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_brief(texts[i], texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_three_matrices_for_each_output_length),
        cmocka_unit_test(a_matrix_of_several_tables_counts_as_one),
        cmocka_unit_test(sections_that_repeat_the_takeaways_or_describe_the_method_are_omitted),
        cmocka_unit_test(omissions_are_named_once),
        cmocka_unit_test(other_text_is_unchanged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
