/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "store/audit/audit_log.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/scraped.h"

static void scrape(struct ledger *ledger, int64_t at_ms, double waiting, double total)
{
    const struct scrape_value values[] = {
        { "requests_total", "code=\"200\"", "counter", total },
        { "waiting", "", "gauge", waiting },
        { "requests_total", "code=\"500\"", "counter", 1 },
    };

    assert_ok(ledger, scrape_add(ledger->store, 1, at_ms, values, 3, NULL, &ledger->error));
}

/* Reads the series of deployment 1 that have this name, with one point per scrape. */
static struct scraped *read_series(struct ledger *ledger, const char *name, int64_t from_ms,
                                   int64_t to_ms, size_t *count)
{
    const struct scrape_range range = { 1, name, from_ms, to_ms, 1 };
    struct scraped *series;

    assert_ok(ledger,
              scraped_read(ledger->store, &range, SCRAPE_RAW, &series, count, &ledger->error));
    return series;
}

static void reads_back_the_points_of_a_series(void **state)
{
    struct ledger *ledger = *state;
    const struct scrape_range other = { 2, "waiting", 0, 9999, 1 };
    struct scraped *series;
    size_t count;

    for (int i = 0; i < 4; i++)
        scrape(ledger, 1000 * i, 0.5 * i, 100 * i);
    series = read_series(ledger, "waiting", 1000, 2001, &count);
    assert_int_equal(count, 1);
    assert_string_equal(series[0].type, "gauge");
    assert_int_equal(series[0].count, 2);
    assert_int_equal(series[0].points[0].at_ms, 1000);
    assert_true(series[0].points[1].last == 1.0);
    scraped_free(series, count);
    series = read_series(ledger, "requests_total", 0, 9999, &count);
    assert_int_equal(count, 2);
    assert_string_equal(series[0].labels, "code=\"200\"");
    assert_true(series[0].points[3].last == 300);
    assert_true(series[0].points[3].increase == 100);
    scraped_free(series, count);
    assert_ok(ledger,
              scraped_read(ledger->store, &other, SCRAPE_RAW, &series, &count, &ledger->error));
    assert_int_equal(count, 0);
    scraped_free(series, count);
}

static void a_series_continues_after_a_restart(void **state)
{
    struct ledger *ledger = *state;
    struct scraped *series;
    char(*names)[128];
    size_t count;

    scrape(ledger, 1, 1, 1);
    ledger_reopen(ledger);
    scrape(ledger, 2, 2, 2);
    series = read_series(ledger, "waiting", 0, 9999, &count);
    assert_int_equal(count, 1);
    assert_int_equal(series[0].count, 2);
    scraped_free(series, count);
    assert_ok(ledger, scrape_names(ledger->store, 1, &names, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "requests_total");
    assert_string_equal(names[1], "waiting");
    free(names);
}

static void finite_values_survive_and_others_are_skipped(void **state)
{
    struct ledger *ledger = *state;
    const double values[] = { -0.0, -7, 0.1, 9007199254740993.0, 1e300, NAN, INFINITY, -INFINITY };
    struct scraped *series;
    size_t count;

    for (size_t i = 0; i < 8; i++)
        scrape(ledger, (int64_t)i, values[i], 0);
    series = read_series(ledger, "waiting", 0, 9999, &count);
    assert_int_equal(series[0].count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_memory_equal(&series[0].points[i].last, &values[i], sizeof(double));
    scraped_free(series, count);
}

static struct scrape_left_out left_out_between(struct ledger *ledger, int64_t from_ms,
                                               int64_t to_ms)
{
    const struct scrape_range range = { 1, NULL, from_ms, to_ms, 1 };
    struct scrape_left_out left_out;

    assert_ok(ledger,
              scrape_left_out_read(ledger->store, &range, SCRAPE_RAW, &left_out, &ledger->error));
    return left_out;
}

static void counts_the_series_whose_labels_are_too_long(void **state)
{
    struct ledger *ledger = *state;
    char labels[1000];
    const struct scrape_value values[] = { { "info", labels, "gauge", 1 },
                                           { "waiting", "", "gauge", 2 } };
    struct scrape_left_out first = { .by_page = 7 }, later = { 0 };
    char(*names)[128];
    size_t count;

    memset(labels, 'x', sizeof labels - 1);
    labels[sizeof labels - 1] = '\0';
    assert_ok(ledger, scrape_add(ledger->store, 1, 1, values, 2, &first, &ledger->error));
    assert_ok(ledger, scrape_add(ledger->store, 1, 2, values, 2, &later, &ledger->error));
    assert_ok(ledger, scrape_add(ledger->store, 1, 3, values + 1, 1, NULL, &ledger->error));
    assert_true(first.by_length == 1 && first.by_page == 7 && first.is_first);
    assert_true(later.by_length == 1 && later.by_page == 0 && !later.is_first);
    assert_true(left_out_between(ledger, 1, 9).by_page == 7);
    assert_true(left_out_between(ledger, 2, 9).by_page == 0);
    assert_true(left_out_between(ledger, 2, 9).by_length == 1);
    assert_true(left_out_between(ledger, 3, 9).by_length == 0);
    assert_ok(ledger, scrape_names(ledger->store, 1, &names, &count, &ledger->error));
    assert_int_equal(count, 2); /* "waiting" and SCRAPE_LEFT_OUT */
    free(names);
}

static void counts_the_new_series_beyond_the_limit(void **state)
{
    struct ledger *ledger = *state;
    struct scrape_value *values = calloc(SCRAPE_SERIES_LIMIT + 10, sizeof *values);
    char(*labels)[24] = calloc(SCRAPE_SERIES_LIMIT + 10, sizeof *labels);
    struct scrape_left_out all = { 0 }, few = { 0 };

    for (int i = 0; i < SCRAPE_SERIES_LIMIT + 10; i++) {
        snprintf(labels[i], sizeof *labels, "n=\"%d\"", i);
        values[i] = (struct scrape_value){ "x", labels[i], "gauge", i };
    }
    assert_ok(ledger, scrape_add(ledger->store, 1, 1, values, SCRAPE_SERIES_LIMIT + 10, &all,
                                 &ledger->error));
    ledger_reopen(ledger);
    assert_ok(ledger, scrape_add(ledger->store, 1, 2, values + SCRAPE_SERIES_LIMIT - 3, 5, &few,
                                 &ledger->error));
    assert_true(all.by_deployment == 10 && all.is_first);
    assert_true(few.by_deployment == 2 && !few.is_first);
    assert_int_equal(left_out_between(ledger, 2, 3).by_deployment, 2);
    free(values);
    free(labels);
}

static void targets_remember_how_the_last_scrape_went(void **state)
{
    struct ledger *ledger = *state;
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct change change = ledger_change("bob", "metrics_watch");
    struct scrape_target *targets;
    struct audit_row *audit;
    size_t count;

    assert_ok(ledger,
              scrape_target_set(ledger->store, deployment.id, 15000, &change, &ledger->error));
    assert_ok(ledger,
              scrape_target_set(ledger->store, deployment.id, 5000, &change, &ledger->error));
    assert_refused(ledger, scrape_target_set(ledger->store, 9, 5000, &change, &ledger->error),
                   ERROR_NOT_FOUND, "deployment 9");
    assert_ok(ledger,
              scrape_note(ledger->store, deployment.id, 777, "connection refused", &ledger->error));
    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ .subject = "a" }, 10,
                                     &audit, &count, &ledger->error));
    assert_int_equal(count, 3);
    audit_log_rows_free(audit, count);
    ledger_reopen(ledger);
    assert_ok(ledger, scrape_target_list(ledger->store, &targets, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_int_equal(targets[0].interval_ms, 5000);
    assert_int_equal(targets[0].last_ms, 777);
    assert_string_equal(targets[0].last_error, "connection refused");
    free(targets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_the_points_of_a_series),
        cmocka_unit_test(a_series_continues_after_a_restart),
        cmocka_unit_test(finite_values_survive_and_others_are_skipped),
        cmocka_unit_test(counts_the_series_whose_labels_are_too_long),
        cmocka_unit_test(counts_the_new_series_beyond_the_limit),
        cmocka_unit_test(targets_remember_how_the_last_scrape_went),
    };

    return ledger_run(tests);
}
