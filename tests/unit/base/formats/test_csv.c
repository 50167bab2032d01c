/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/formats/csv.h"

struct reading {
    struct csv csv;
    struct error error;
    char shown[64];
};

static struct reading begin(const char *text)
{
    struct reading reading;

    csv_init(&reading.csv, text, strlen(text));
    return reading;
}

static void assert_row(struct reading *reading, int64_t line, size_t count)
{
    bool more;

    if (!csv_next(&reading->csv, &more, &reading->error))
        fail_msg("%s", reading->error.message);
    assert_true(more);
    assert_int_equal(reading->csv.line, line);
    assert_int_equal(reading->csv.count, count);
}

static const char *field(struct reading *reading, size_t index)
{
    return csv_copy(&reading->csv.fields[index], reading->shown, sizeof reading->shown);
}

static void assert_end(struct reading *reading)
{
    bool more;

    assert_true(csv_next(&reading->csv, &more, &reading->error));
    assert_false(more);
}

static void assert_refused(const char *text, const char *words)
{
    struct reading reading = begin(text);
    bool more = true, good = true;

    while (good && more)
        good = csv_next(&reading.csv, &more, &reading.error);
    assert_false(good);
    if (strstr(reading.error.message, words) == NULL)
        fail_msg("the error message \"%s\" does not contain \"%s\"", reading.error.message, words);
}

static void lines_can_end_in_crlf_or_lf_and_empty_lines_are_skipped(void **state)
{
    struct reading reading = begin("a,b\r\n1,2\n\n\r\n3,\n,4");

    (void)state;
    assert_row(&reading, 1, 2);
    assert_string_equal(field(&reading, 1), "b");
    assert_row(&reading, 2, 2);
    assert_row(&reading, 5, 2);
    assert_string_equal(field(&reading, 0), "3");
    assert_string_equal(field(&reading, 1), "");
    assert_row(&reading, 6, 2);
    assert_string_equal(field(&reading, 1), "4");
    assert_end(&reading);
    assert_end(&reading);
}

static void quoted_fields_can_contain_separators_quotes_and_line_breaks(void **state)
{
    struct reading reading = begin("\"a,\"\"b\"\"\",\"x\r\ny\"\n\"\",z\r\n");

    (void)state;
    assert_row(&reading, 1, 2);
    assert_string_equal(field(&reading, 0), "a,\"b\"");
    assert_string_equal(field(&reading, 1), "x\r\ny");
    assert_row(&reading, 3, 2);
    assert_string_equal(field(&reading, 0), "");
    assert_end(&reading);
}

static void lone_carriage_returns_end_lines_even_in_a_quoted_field(void **state)
{
    struct reading reading = begin("\"a\rb\",c\r1,2\r");

    (void)state;
    assert_row(&reading, 1, 2);
    assert_row(&reading, 3, 2);
    assert_end(&reading);
}

static void skips_a_byte_order_mark_and_detects_the_separator(void **state)
{
    struct reading marked = begin("\xef\xbb\xbf"
                                  "a;b,c;d\n1;2;3");
    struct reading tabs = begin("a\tb\n");

    (void)state;
    assert_row(&marked, 1, 3);
    assert_string_equal(field(&marked, 0), "a");
    assert_string_equal(field(&marked, 1), "b,c");
    assert_row(&marked, 2, 3);
    assert_row(&tabs, 1, 2);
}

static void truncates_a_field_between_characters(void **state)
{
    struct reading reading = begin("\xc3\xa4\xc3\xb6");
    char out[4];

    (void)state;
    assert_row(&reading, 1, 1);
    assert_string_equal(csv_copy(&reading.csv.fields[0], out, sizeof out), "\xc3\xa4");
}

static void refuses_malformed_csv_and_names_the_line(void **state)
{
    char many[2 * CSV_FIELDS_MAX + 2];

    (void)state;
    assert_refused("a\n\"b", "line 2: a quoted field has no closing quote");
    assert_refused("\"a\"b,c", "line 1: there is text after the closing quote");
    assert_refused("a\nb\n\xff", "line 3 is not UTF-8");
    memset(many, ',', sizeof many);
    many[sizeof many - 1] = '\0';
    assert_refused(many, "more than 512 fields");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_can_end_in_crlf_or_lf_and_empty_lines_are_skipped),
        cmocka_unit_test(quoted_fields_can_contain_separators_quotes_and_line_breaks),
        cmocka_unit_test(lone_carriage_returns_end_lines_even_in_a_quoted_field),
        cmocka_unit_test(skips_a_byte_order_mark_and_detects_the_separator),
        cmocka_unit_test(truncates_a_field_between_characters),
        cmocka_unit_test(refuses_malformed_csv_and_names_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
