/* SPDX-License-Identifier: Apache-2.0 */
/* The limit on series per deployment, and the memory that thousands of series need. */
#include <malloc.h>

#include "base/core/random.h"
#include "tests/unit/support/scrape_rig.h"

/* Scrapes `count` gauges named "x", with labels that are numbered from `first` on. */
static void scrape_many(struct ledger *ledger, int64_t at_ms, int first, int count)
{
    struct scrape_value *values = calloc((size_t)count, sizeof *values);
    char(*labels)[24] = calloc((size_t)count, sizeof *labels);

    for (int i = 0; i < count; i++) {
        snprintf(labels[i], sizeof *labels, "n=\"%d\"", first + i);
        values[i] = (struct scrape_value){ "x", labels[i], "gauge", first + i };
    }
    scrape(ledger, at_ms, values, (size_t)count);
    free(values);
    free(labels);
}

static void refuses_series_beyond_the_limit(void **state)
{
    struct ledger *ledger = *state;
    const struct scrape_range range = { 1, "x", 0, INT64_MAX, 1 };
    struct scraped *series;
    size_t count;

    scrape_many(ledger, START_MS, 0, SCRAPE_SERIES_LIMIT + 10);
    scrape_many(ledger, START_MS + 1000, SCRAPE_SERIES_LIMIT - 1, 11);
    assert_ok(ledger,
              scraped_read(ledger->store, &range, SCRAPE_RAW, &series, &count, &ledger->error));
    assert_int_equal(count, SCRAPE_SERIES_LIMIT);
    assert_int_equal(series[count - 1].count, 2); /* known series continue */
    scraped_free(series, count);
}

static size_t count_series(struct ledger *ledger, int64_t at_ms)
{
    const struct scrape_range range = { 1, "x", at_ms, at_ms + 1, 1 };
    struct scraped *series;
    size_t count;

    assert_ok(ledger,
              scraped_read(ledger->store, &range, SCRAPE_RAW, &series, &count, &ledger->error));
    scraped_free(series, count);
    return count;
}

static void known_series_continue_after_a_restart_even_at_the_limit(void **state)
{
    struct ledger *ledger = *state;

    scrape_many(ledger, START_MS, 0, SCRAPE_SERIES_LIMIT);
    ledger_reopen(ledger);
    scrape_many(ledger, START_MS + 1000, 0, SCRAPE_SERIES_LIMIT);
    assert_int_equal(count_series(ledger, START_MS + 1000), SCRAPE_SERIES_LIMIT);
}

static void a_known_series_is_not_counted_again_towards_the_limit(void **state)
{
    struct ledger *ledger = *state;

    scrape_many(ledger, START_MS, 1, 3000);
    scrape_many(ledger, START_MS + 1000, 0, 3001); /* one new series, then the known ones */
    scrape_many(ledger, START_MS + 2000, 2000, 3000);
    assert_int_equal(count_series(ledger, START_MS + 2000), 3000);
    ledger_reopen(ledger);
    scrape_many(ledger, START_MS + 3000, 0, 5000);
    assert_int_equal(count_series(ledger, START_MS + 3000), 5000);
}

/* ---- Memory ---- */

#define LABEL_SETS 2000
#define FAMILY_SCRAPES 480 /* two hours */
#define FAMILY_MIB 24      /* the limit on memory; all values at once would take over 60 MiB */

/* Returns how much memory the process uses, in KiB. "VmRSS:" stands for the current amount,
 * "VmHWM:" for the maximum since begin_measuring. */
static long resident_kib(const char *which)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    long kib = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, which, strlen(which)) == 0)
            kib = atol(line + strlen(which));
    fclose(file);
    return kib;
}

static long begin_measuring(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    assert_non_null(file);
    fputs("5", file); /* resets VmHWM */
    fclose(file);
    malloc_trim(0);
    return resident_kib("VmRSS:");
}

static void assert_little_more(long before_kib, const char *what)
{
    long more_kib = resident_kib("VmHWM:") - before_kib;

    print_message("%s: %ld KiB\n", what, more_kib);
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer keeps freed memory */
    assert_true(more_kib < FAMILY_MIB * 1024);
#endif
}

static void store_family(struct ledger *ledger)
{
    struct scrape_value *values = calloc(LABEL_SETS, sizeof *values);
    char(*labels)[24] = calloc(LABEL_SETS, sizeof *labels);
    struct generator random;

    generator_init(&random, 3);
    for (int i = 0; i < LABEL_SETS; i++)
        snprintf(labels[i], sizeof *labels, "n=\"%d\"", i);
    for (int i = 0; i < FAMILY_SCRAPES; i++) {
        for (int j = 0; j < LABEL_SETS; j++)
            values[j] = (struct scrape_value){ "x", labels[j], "gauge",
                                               (double)generator_below(&random, 1000) };
        scrape(ledger, START_MS + i * 15 * SECOND_MS, values, LABEL_SETS);
    }
    free(values);
    free(labels);
}

static void rolling_up_and_reading_thousands_of_series_needs_little_memory(void **state)
{
    struct ledger *ledger = *state;
    const struct scrape_range range = { 1, "x", START_MS, START_MS + 3 * HOUR_MS, HOUR_MS };
    struct scraped *series;
    size_t count;
    long before_kib;

    store_family(ledger);
    before_kib = begin_measuring();
    compact(ledger, START_MS + 3 * HOUR_MS);
    assert_little_more(before_kib, "rolling up");
    before_kib = begin_measuring();
    assert_ok(ledger,
              scraped_read(ledger->store, &range, SCRAPE_RAW, &series, &count, &ledger->error));
    assert_little_more(before_kib, "reading");
    assert_int_equal(count, LABEL_SETS);
    assert_true(series[7].points[0].count == 240 && series[7].points[1].count == 240);
    scraped_free(series, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_series_beyond_the_limit),
        cmocka_unit_test(known_series_continue_after_a_restart_even_at_the_limit),
        cmocka_unit_test(a_known_series_is_not_counted_again_towards_the_limit),
        cmocka_unit_test(rolling_up_and_reading_thousands_of_series_needs_little_memory),
    };

    unsetenv("OPSBRAIN_REHEARSE_WRITES"); /* rehearsing so many writes would take too long */
    return ledger_run(tests);
}
