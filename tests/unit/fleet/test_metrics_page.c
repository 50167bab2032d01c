/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/engine_histograms.h"
#include "fleet/metrics_map.h"
#include "fleet/metrics_page.h"

static struct metrics_page read_page(const char *text)
{
    TEXT_AUTO body = { 0 };
    struct metrics_page page;

    text_add(&body, text);
    metrics_page_read(&body, 1, &page);
    return page;
}

static void keeps_names_and_labels_as_the_server_writes_them(void **state)
{
    struct metrics_page page =
        read_page("# TYPE a gauge\na{x=\"1\",y=\"2\"} 7\na 8\nnot a sample\nb -0.5\n");

    (void)state;
    assert_int_equal(page.count, 3);
    assert_string_equal(page.values[0].name, "a");
    assert_string_equal(page.values[0].labels, "x=\"1\",y=\"2\"");
    assert_true(page.values[0].value == 7);
    assert_string_equal(page.values[1].labels, "");
    assert_string_equal(page.values[2].name, "b");
    metrics_page_finish(&page);
}

static void recognizes_counters(void **state)
{
    static const struct {
        const char *text, *type;
    } rows[] = {
        { "# TYPE a counter\na 1\n", "counter" },
        { "# TYPE a gauge\na_total 1\n", "counter" }, /* the type is declared only for `a` */
        { "# TYPE a gauge\na 1\n", "gauge" },
        { "# TYPE a histogram\na_bucket{le=\"1\"} 1\n", "counter" },
        { "# TYPE a histogram\na_sum 1\n", "counter" },
        { "# TYPE a summary\na{quantile=\"0.5\"} 1\n", "gauge" },
        { "# TYPE a summary\na_count 1\n", "counter" },
        { "a 1\n", "gauge" },
        { "a_total 1\n", "counter" },
        { "a_count 1\n", "counter" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct metrics_page page = read_page(rows[i].text);

        assert_int_equal(page.count, 1);
        if (strcmp(page.values[0].type, rows[i].type) != 0)
            fail_msg("%s: got %s, expected %s", rows[i].text, page.values[0].type, rows[i].type);
        metrics_page_finish(&page);
    }
}

static void skips_values_that_are_not_finite(void **state)
{
    struct metrics_page page = read_page("a NaN\nb +Inf\nc -Inf\nd 1\n");

    (void)state;
    assert_int_equal(page.count, 1);
    assert_string_equal(page.values[0].name, "d");
    metrics_page_finish(&page);
}

static void reads_a_bounded_number_of_series(void **state)
{
    TEXT_AUTO text = { 0 };

    (void)state;
    for (int i = 0; i < METRICS_PAGE_SERIES_LIMIT + 100; i++)
        text_addf(&text, "a%d 1\n", i);
    struct metrics_page page = read_page(text.data);
    assert_int_equal(page.count, METRICS_PAGE_SERIES_LIMIT);
    assert_int_equal(page.left_out, 100);
    assert_string_equal(page.values[METRICS_PAGE_SERIES_LIMIT - 1].name, "a1999");
    page.values[page.count++] = page.values[0]; /* read_page asked for room for one more */
    metrics_page_finish(&page);
}

static void reports_how_many_series_exceed_each_limit(void **state)
{
    TEXT_AUTO sentence = { 0 };

    (void)state;
    metrics_page_describe_left_out(&(struct scrape_left_out){ 0 }, &sentence);
    assert_int_equal(sentence.length, 0);
    metrics_page_describe_left_out(&(struct scrape_left_out){ 7, 0, 2, false }, &sentence);
    assert_string_equal(
        text_string(&sentence),
        "9 series from a scrape are not stored: 7 beyond the first 2000 on the page, "
        "2 with a name longer than 127 or labels longer than 511 bytes");
}

static void metrics_map_recognizes_each_histogram_that_is_listed_for_a_figure(void **state)
{
    static const char *const figures[] = { "ttft_count", "itl_count", "e2e_count", "queue_count" };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *const *families = engine_histogram_families(figures[i]);

        assert_non_null(families[0]);
        for (size_t j = 0; families[j] != NULL; j++) {
            struct scrape_value values[4];
            struct engine_metrics_snapshot snapshot;
            TEXT_AUTO text = { 0 };

            text_addf(&text, "%s_count 3\n", families[j]);
            metrics_map_clear(&snapshot);
            assert_int_equal(metrics_map(text.data, text.length, &snapshot), 1);
            assert_int_equal(engine_metrics_values(&snapshot, values, 4), 1);
            assert_string_equal(values[0].name, figures[i]);
        }
    }
    assert_string_equal(engine_histogram_families("queue_count")[2],
                        "sglang:request_queue_time_seconds");
    assert_null(engine_histogram_families("speed")[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_names_and_labels_as_the_server_writes_them),
        cmocka_unit_test(recognizes_counters),
        cmocka_unit_test(skips_values_that_are_not_finite),
        cmocka_unit_test(reads_a_bounded_number_of_series),
        cmocka_unit_test(reports_how_many_series_exceed_each_limit),
        cmocka_unit_test(metrics_map_recognizes_each_histogram_that_is_listed_for_a_figure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
