/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/formats/promtext.h"

/* Appends a line for the sample: "name{labels} type value". */
static bool note(void *context, const struct promtext_sample *sample)
{
    static const char types[] = { 'u', 'c', 'g', 'h', 's' };
    struct text *out = context;

    text_addf(out, "%.*s{%.*s} %c ", (int)sample->name_length, sample->name,
              (int)sample->labels_length, sample->labels, types[sample->type]);
    text_addf(out, isnan(sample->value) ? "nan\n" : "%g\n", sample->value);
    return true;
}

static void assert_read(const char *string, const char *expected, size_t expected_skipped)
{
    TEXT_AUTO out = { 0 };
    size_t skipped = 99;

    assert_true(promtext_read(string, strlen(string), note, &out, &skipped));
    assert_string_equal(text_string(&out), expected);
    assert_int_equal(skipped, expected_skipped);
}

static void reads_names_labels_and_values(void **state)
{
    (void)state;
    assert_read("up 1\n", "up{} u 1\n", 0);
    assert_read("a:b_c9{x=\"1\",y=\"2\"} -2.5e3\n", "a:b_c9{x=\"1\",y=\"2\"} u -2500\n", 0);
    assert_read("a{} 1\n", "a{} u 1\n", 0);
    assert_read("a{x=\"1\",} 1\n", "a{x=\"1\",} u 1\n", 0);
    assert_read("  a { x = \"1\" , y = \"2\" }\t3  \n", "a{ x = \"1\" , y = \"2\" } u 3\n", 0);
}

static void reads_crlf_blank_lines_and_a_last_line_without_newline(void **state)
{
    (void)state;
    assert_read("a 1\r\nb 2", "a{} u 1\nb{} u 2\n", 0);
    assert_read("", "", 0);
    assert_read("\n\n \n", "", 0);
}

static void skips_timestamps_and_exemplars(void **state)
{
    (void)state;
    assert_read("a 1 1700000000000\nb 2 -5\nc 3 1.5e9\n", "a{} u 1\nb{} u 2\nc{} u 3\n", 0);
    assert_read("h_bucket{le=\"1\"} 4 # {trace=\"x\"} 0.5 1.7e9\n", "h_bucket{le=\"1\"} u 4\n", 0);
}

static void reads_nan_and_infinity(void **state)
{
    (void)state;
    assert_read("a NaN\nb +Inf\nc inf\nd -Inf\ne nan\nf -inf\n",
                "a{} u nan\nb{} u inf\nc{} u inf\nd{} u -inf\ne{} u nan\nf{} u -inf\n", 0);
}

static void quoted_values_can_contain_braces_commas_and_escapes(void **state)
{
    (void)state;
    assert_read("a{x=\"}, {\\\"y\\\\\",z=\"\"} 1\n", "a{x=\"}, {\\\"y\\\\\",z=\"\"} u 1\n", 0);
}

static void samples_have_the_type_of_their_family(void **state)
{
    (void)state;
    assert_read("# HELP x_seconds TYPE of it\n# TYPE x_seconds histogram\n"
                "x_seconds_bucket{le=\"+Inf\"} 1\nx_seconds_sum 2\nx_seconds_count 1\n"
                "x_seconds_created 9\nother_count 3\n",
                "x_seconds_bucket{le=\"+Inf\"} h 1\nx_seconds_sum{} h 2\nx_seconds_count{} h 1\n"
                "x_seconds_created{} u 9\nother_count{} u 3\n",
                0);
    assert_read("# TYPE req counter\nreq_total 5\n# TYPE n_total counter\nn_total 6\n",
                "req_total{} c 5\nn_total{} c 6\n", 0);
    assert_read("# TYPE g gauge\ng 1\ngg 2\n# TYPE s summary\ns{quantile=\"0.5\"} 1\ns_sum 2\n"
                "s_bucket 3\n# TYPE q unknown\nq 1\n",
                "g{} g 1\ngg{} u 2\ns{quantile=\"0.5\"} s 1\ns_sum{} s 2\ns_bucket{} u 3\n"
                "q{} u 1\n",
                0);
}

static void skips_and_counts_malformed_lines(void **state)
{
    static const char *const bad[] = { "a",
                                       "a{",
                                       "a{x=\"1\" 1",
                                       "a{x=1} 1",
                                       "a{=\"1\"} 1",
                                       "a{x=\"1}",
                                       "9a 1",
                                       "{x=\"1\"} 1",
                                       "a 1x",
                                       "a 0x10",
                                       "a 1 2 3",
                                       "a 1e999",
                                       "a one",
                                       "a{x} 1",
                                       "a nan(1)",
                                       "a 1 when",
                                       "a{x=\"1\"y=\"2\"} 1",
                                       "a{x=\"\\\"} 1",
                                       "a{,} 1",
                                       "a{x=\"\xff\"} 1",
                                       "a .",
                                       "a --1",
                                       "a 1_000",
                                       "- 1",
                                       "<html>" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        TEXT_AUTO text = { 0 };

        text_addf(&text, "%s\nok 1\n", bad[i]);
        assert_read(text.data, "ok{} u 1\n", 1);
    }
}

static void skips_a_value_of_a_thousand_digits(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    text_add(&text, "a ");
    for (int i = 0; i < 1000; i++)
        text_add(&text, "1");
    assert_read(text.data, "", 1);
}

static void lines_with_zero_bytes_are_skipped(void **state)
{
    TEXT_AUTO out = { 0 };
    size_t skipped;

    (void)state;
    assert_true(promtext_read("a 1\0\nb\0 2\nc 3", 13, note, &out, &skipped));
    assert_string_equal(out.data, "c{} u 3\n");
    assert_int_equal(skipped, 2);
}

static bool stop_at_second(void *context, const struct promtext_sample *sample)
{
    (void)sample;
    return ++*(int *)context < 2;
}

static void stops_when_the_callback_returns_false(void **state)
{
    int count = 0;

    (void)state;
    assert_false(promtext_read("a 1\nb 2\nc 3\n", 12, stop_at_second, &count, NULL));
    assert_int_equal(count, 2);
}

static struct promtext_sample with_labels(const char *labels)
{
    return (struct promtext_sample){ .labels = labels, .labels_length = strlen(labels) };
}

static void finds_and_unescapes_labels(void **state)
{
    struct promtext_sample sample =
        with_labels("model_name=\"a\\\"b\\\\n\\nc\",le=\"+Inf\" , e = \"\", n=\"x,le=\\\"1\\\"\"");
    char value[32];

    (void)state;
    assert_true(promtext_label(&sample, "model_name", value, sizeof value));
    assert_string_equal(value, "a\"b\\n\nc");
    assert_true(promtext_label(&sample, "le", value, sizeof value));
    assert_string_equal(value, "+Inf");
    assert_true(promtext_label(&sample, "e", value, sizeof value));
    assert_string_equal(value, "");
    assert_true(promtext_label(&sample, "n", value, sizeof value));
    assert_string_equal(value, "x,le=\"1\"");
    assert_false(promtext_label(&sample, "l", value, sizeof value));
    assert_false(promtext_label(&sample, "model", value, sizeof value));
}

static void a_label_too_long_for_its_buffer_is_not_truncated(void **state)
{
    struct promtext_sample sample = with_labels("a=\"1234\"");
    char value[5] = "";

    (void)state;
    assert_true(promtext_label(&sample, "a", value, 5));
    assert_string_equal(value, "1234");
    assert_false(promtext_label(&sample, "a", value, 4));
}

static void reads_back_what_it_writes(void **state)
{
    static const char unescaped[] = "q\"b\\n\nl{},=";
    static const char labels[] = "name=\"q\\\"b\\\\n\\nl{},=\"";
    TEXT_AUTO out = { 0 };
    TEXT_AUTO noted = { 0 };
    struct promtext_sample sample;
    char value[64];

    (void)state;
    promtext_family(&out, "opsbrain_calls_total", PROMTEXT_COUNTER, "calls\nby \\ tool");
    promtext_value(&out, "opsbrain_calls_total", labels, 12);
    promtext_value(&out, "opsbrain_calls_total", NULL, 0.1);
    promtext_value(&out, "opsbrain_calls_total", "", NAN);
    promtext_value(&out, "opsbrain_calls_total", NULL, INFINITY);
    promtext_value(&out, "opsbrain_calls_total", NULL, -INFINITY);
    assert_memory_equal(out.data,
                        "# HELP opsbrain_calls_total calls\\nby \\\\ tool\n"
                        "# TYPE opsbrain_calls_total counter\n",
                        81);
    assert_non_null(strstr(out.data, "} 12\nopsbrain_calls_total 0.1\nopsbrain_calls_total NaN\n"
                                     "opsbrain_calls_total +Inf\nopsbrain_calls_total -Inf\n"));
    assert_true(promtext_read(out.data, out.length, note, &noted, NULL));
    assert_string_equal(noted.data,
                        "opsbrain_calls_total{name=\"q\\\"b\\\\n\\nl{},=\"} c 12\n"
                        "opsbrain_calls_total{} c 0.1\nopsbrain_calls_total{} c nan\n"
                        "opsbrain_calls_total{} c inf\nopsbrain_calls_total{} c -inf\n");
    sample = with_labels(labels);
    assert_true(promtext_label(&sample, "name", value, sizeof value));
    assert_string_equal(value, unescaped);
}

static void written_numbers_keep_their_value(void **state)
{
    static const double values[] = { 0, 1, -1, 0.1, 1.0 / 3, 1e300, 123456789012345678.0, 5e-324 };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        TEXT_AUTO out = { 0 };

        promtext_value(&out, "x", NULL, values[i]);
        assert_true(strtod(out.data + 2, NULL) == values[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_names_labels_and_values),
        cmocka_unit_test(reads_crlf_blank_lines_and_a_last_line_without_newline),
        cmocka_unit_test(skips_timestamps_and_exemplars),
        cmocka_unit_test(reads_nan_and_infinity),
        cmocka_unit_test(quoted_values_can_contain_braces_commas_and_escapes),
        cmocka_unit_test(samples_have_the_type_of_their_family),
        cmocka_unit_test(skips_and_counts_malformed_lines),
        cmocka_unit_test(skips_a_value_of_a_thousand_digits),
        cmocka_unit_test(lines_with_zero_bytes_are_skipped),
        cmocka_unit_test(stops_when_the_callback_returns_false),
        cmocka_unit_test(finds_and_unescapes_labels),
        cmocka_unit_test(a_label_too_long_for_its_buffer_is_not_truncated),
        cmocka_unit_test(reads_back_what_it_writes),
        cmocka_unit_test(written_numbers_keep_their_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
