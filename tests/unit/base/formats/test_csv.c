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

static void row_is(struct reading *reading, int64_t line, size_t count)
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

static void ends(struct reading *reading)
{
    bool more;

    assert_true(csv_next(&reading->csv, &more, &reading->error));
    assert_false(more);
}

static void refused(const char *text, const char *words)
{
    struct reading reading = begin(text);
    bool more = true, good = true;

    while (good && more)
        good = csv_next(&reading.csv, &more, &reading.error);
    assert_false(good);
    if (strstr(reading.error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", reading.error.message, words);
}

static void reads_lines_of_either_kind_and_no_empty_ones(void **state)
{
    struct reading reading = begin("a,b\r\n1,2\n\n\r\n3,\n,4");

    (void)state;
    row_is(&reading, 1, 2);
    assert_string_equal(field(&reading, 1), "b");
    row_is(&reading, 2, 2);
    row_is(&reading, 5, 2);
    assert_string_equal(field(&reading, 0), "3");
    assert_string_equal(field(&reading, 1), "");
    row_is(&reading, 6, 2);
    assert_string_equal(field(&reading, 1), "4");
    ends(&reading);
    ends(&reading);
}

static void quotes_may_contain_separators_quotes_and_lines(void **state)
{
    struct reading reading = begin("\"a,\"\"b\"\"\",\"x\r\ny\"\n\"\",z\r\n");

    (void)state;
    row_is(&reading, 1, 2);
    assert_string_equal(field(&reading, 0), "a,\"b\"");
    assert_string_equal(field(&reading, 1), "x\r\ny");
    row_is(&reading, 3, 2);
    assert_string_equal(field(&reading, 0), "");
    ends(&reading);
}

static void skips_a_byte_order_mark_and_finds_the_separator(void **state)
{
    struct reading marked = begin("\xef\xbb\xbf"
                                  "a;b,c;d\n1;2;3");
    struct reading tabs = begin("a\tb\n");

    (void)state;
    row_is(&marked, 1, 3);
    assert_string_equal(field(&marked, 0), "a");
    assert_string_equal(field(&marked, 1), "b,c");
    row_is(&marked, 2, 3);
    row_is(&tabs, 1, 2);
}

static void truncates_a_field_between_characters(void **state)
{
    struct reading reading = begin("\xc3\xa4\xc3\xb6");
    char out[4];

    (void)state;
    row_is(&reading, 1, 1);
    assert_string_equal(csv_copy(&reading.csv.fields[0], out, sizeof out), "\xc3\xa4");
}

static void refuses_malformed_csv_and_names_the_line(void **state)
{
    char many[2 * CSV_FIELDS_MAX + 2];

    (void)state;
    refused("a\n\"b", "line 2: a quoted field does not end");
    refused("\"a\"b,c", "line 1: there is text after the quote");
    refused("a\nb\n\xff", "line 3 is not UTF-8");
    memset(many, ',', sizeof many);
    many[sizeof many - 1] = '\0';
    refused(many, "more than 512 fields");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lines_of_either_kind_and_no_empty_ones),
        cmocka_unit_test(quotes_may_contain_separators_quotes_and_lines),
        cmocka_unit_test(skips_a_byte_order_mark_and_finds_the_separator),
        cmocka_unit_test(truncates_a_field_between_characters),
        cmocka_unit_test(refuses_malformed_csv_and_names_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
