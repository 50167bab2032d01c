/* SPDX-License-Identifier: Apache-2.0 */
/* Series without stored values make room for others. */
#include <pthread.h>
#include <stdatomic.h>

#include "store/ledger/store.h"
#include "tests/unit/support/scrape_rig.h"

#define FIRST_MS (420 * DAY_MS) /* a block of the hourly level begins here */

/* Scrapes `count` gauges named "x". They are numbered from `first` on; the number is both the label
 * "n" and the value. Returns how many series were over the limit. */
static size_t scrape_many(struct ledger *ledger, int64_t at_ms, int first, int count)
{
    struct scrape_value *values = calloc((size_t)count, sizeof *values);
    char(*labels)[24] = calloc((size_t)count, sizeof *labels);
    struct scrape_left_out left_out = { 0 };

    for (int i = 0; i < count; i++) {
        snprintf(labels[i], sizeof *labels, "n=\"%d\"", first + i);
        values[i] = (struct scrape_value){ "x", labels[i], "gauge", first + i };
    }
    assert_ok(ledger, scrape_add(ledger->store, 1, at_ms, values, (size_t)count, &left_out,
                                 &ledger->error));
    free(values);
    free(labels);
    return left_out.by_deployment;
}

static void retain(struct ledger *ledger, int64_t now_ms)
{
    const struct retention days = {
        .samples_days = 1, .samples_10s_days = 1, .samples_1m_days = 1, .samples_1h_days = 2
    };

    assert_ok(ledger, store_apply_retention(ledger->store, &days, now_ms, &ledger->error));
}

/* Counts the series that have a point in the range. Asserts that each has the series' number as its
 * value. */
static size_t count_at(struct ledger *ledger, int64_t from_ms, int64_t to_ms,
                       enum scrape_level level)
{
    const struct scrape_range range = { 1, "x", from_ms, to_ms, scrape_level_ms(level) };
    struct scraped *series;
    char labels[24];
    size_t count = 0;

    assert_ok(ledger, scraped_read(ledger->store, &range, level, &series, &count, &ledger->error));
    for (size_t i = 0; i < count; i++) {
        snprintf(labels, sizeof labels, "n=\"%.0f\"", series[i].points[0].last);
        assert_string_equal(series[i].labels, labels);
    }
    scraped_free(series, count);
    return count;
}

static void series_are_deleted_when_their_last_rollup_is_gone(void **state)
{
    struct ledger *ledger = *state;
    int64_t later_ms = FIRST_MS + 63 * DAY_MS;

    assert_int_equal(scrape_many(ledger, FIRST_MS, 0, SCRAPE_SERIES_LIMIT), 0);
    assert_int_equal(scrape_many(ledger, FIRST_MS + 1000, 5000, 10), 10);
    compact(ledger, FIRST_MS + 2 * HOUR_MS);
    retain(ledger, FIRST_MS + DAY_MS + 2 * HOUR_MS); /* the hourly level is kept */
    assert_int_equal(scrape_many(ledger, FIRST_MS + DAY_MS + 2 * HOUR_MS, 5000, 10), 10);
    assert_int_equal(count_at(ledger, FIRST_MS, FIRST_MS + HOUR_MS, SCRAPE_1_H), 5000);
    compact(ledger, later_ms);
    retain(ledger, later_ms);
    assert_int_equal(scrape_many(ledger, later_ms, 5000, 10), 0);
    assert_int_equal(count_at(ledger, later_ms, later_ms + 1, SCRAPE_RAW), 10);
}

static void series_are_deleted_although_others_with_the_same_name_continue(void **state)
{
    struct ledger *ledger = *state;
    int64_t at_ms = FIRST_MS;

    scrape_many(ledger, at_ms, 0, SCRAPE_SERIES_LIMIT);
    for (; at_ms < FIRST_MS + 70 * DAY_MS; at_ms += 7 * DAY_MS) {
        scrape_many(ledger, at_ms + 1000, 4990, 10);
        compact(ledger, at_ms + 2 * HOUR_MS);
        retain(ledger, at_ms + 2 * HOUR_MS);
    }
    assert_int_equal(scrape_many(ledger, at_ms, 4980, 30), 0);
    assert_int_equal(count_at(ledger, at_ms, at_ms + 1, SCRAPE_RAW), 30);
    assert_int_equal(count_at(ledger, at_ms - 7 * DAY_MS, at_ms, SCRAPE_1_H), 10);
}

/* When series 5 and 6 return, they are still known in memory, but were last rolled up long ago.
 * Their new values must not be lost. */
static void a_series_that_returns_is_kept(void **state)
{
    struct ledger *ledger = *state;
    int64_t later_ms = FIRST_MS + 63 * DAY_MS;

    scrape_many(ledger, FIRST_MS, 0, 20);
    compact(ledger, FIRST_MS + 2 * HOUR_MS);
    scrape_many(ledger, later_ms, 5, 2);
    scrape_many(ledger, later_ms + 1000, 6, 1);
    retain(ledger, later_ms + 2000);
    assert_int_equal(count_at(ledger, later_ms, later_ms + 1, SCRAPE_RAW), 2);
    scrape_many(ledger, later_ms + 2000, 0, 40);
    assert_int_equal(count_at(ledger, later_ms, later_ms + 1, SCRAPE_RAW), 2);
    assert_int_equal(count_at(ledger, later_ms + 2000, later_ms + 2001, SCRAPE_RAW), 40);
}

static void a_retention_of_zero_days_keeps_series_for_ever(void **state)
{
    struct ledger *ledger = *state;

    scrape_many(ledger, FIRST_MS, 0, 20);
    compact(ledger, FIRST_MS + 2 * HOUR_MS);
    scrape_many(ledger, FIRST_MS + 3 * HOUR_MS, 100, 1);
    compact(ledger, FIRST_MS + 900 * DAY_MS);
    assert_ok(ledger, store_apply_retention(ledger->store, &(struct retention){ 0 },
                                            FIRST_MS + 900 * DAY_MS, &ledger->error));
    assert_int_equal(count_at(ledger, FIRST_MS, FIRST_MS + HOUR_MS, SCRAPE_1_H), 20);
}

struct freeing {
    struct ledger *ledger;
    atomic_bool stopped;
};

static void *free_until_stopped(void *context)
{
    struct freeing *freeing = context;
    const struct retention days = { .samples_days = 1 };
    struct error error;

    while (!atomic_load(&freeing->stopped))
        if (!store_apply_retention(freeing->ledger->store, &days, FIRST_MS + 9 * DAY_MS, &error))
            return freeing;
    return NULL;
}

/* The scrapes are older than the retention allows, so the second thread can delete a scrape and its
 * series at any time, even between two steps of storing the next scrape. */
static void scrapes_during_deletions_are_never_stored_under_another_series(void **state)
{
    struct freeing freeing = { .ledger = *state };
    pthread_t thread;
    void *failed;
    size_t count;

    assert_int_equal(pthread_create(&thread, NULL, free_until_stopped, &freeing), 0);
    for (int i = 0; i < 200; i++) {
        int64_t at_ms = FIRST_MS + i * 1000;

        scrape_many(freeing.ledger, at_ms, i % 7, 3);
        count = count_at(freeing.ledger, at_ms, at_ms + 1, SCRAPE_RAW);
        assert_true(count == 0 || count == 3);
    }
    atomic_store(&freeing.stopped, true);
    pthread_join(thread, &failed);
    assert_null(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_are_deleted_when_their_last_rollup_is_gone),
        cmocka_unit_test(series_are_deleted_although_others_with_the_same_name_continue),
        cmocka_unit_test(a_series_that_returns_is_kept),
        cmocka_unit_test(a_retention_of_zero_days_keeps_series_for_ever),
        cmocka_unit_test(scrapes_during_deletions_are_never_stored_under_another_series),
    };

    return ledger_run(tests);
}
