/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/monitor_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/metrics_map.h"

static void add(struct monitor_log *log, int64_t at_ms)
{
    struct engine_metrics_snapshot snapshot;

    metrics_map_clear(&snapshot);
    snapshot.at_ms = at_ms;
    monitor_log_add(log, &snapshot);
}

/* Returns the length in seconds of the gap that is found in a window of 15 s, or 0 if none is
 * found. There is a scrape every `every_ms`, except in the `missing_ms` that follow the first 3 s.
 */
static double gap_s(int64_t every_ms, int64_t missing_ms)
{
    struct monitor_log log = { 0 };
    double gap_s;

    for (int64_t at_ms = every_ms; at_ms < 15000; at_ms += every_ms)
        if (at_ms <= 3000 || at_ms >= 3000 + missing_ms)
            add(&log, 100000 + at_ms);
    gap_s = monitor_log_gap_s(&log, 100000, 115000);
    monitor_log_finish(&log);
    return gap_s;
}

static void a_gap_lasts_at_least_3_s(void **state)
{
    (void)state;
    assert_float_equal(gap_s(500, 0), 0, 0);
    assert_float_equal(gap_s(500, 2000), 0, 0); /* under 3 s */
    assert_float_equal(gap_s(500, 10000), 10, 1e-9);
    assert_float_equal(gap_s(500, 12000), 12, 1e-9); /* the gap lasts until the window's end */
}

static void a_few_usual_intervals_without_scrapes_are_not_a_gap(void **state)
{
    (void)state;
    assert_float_equal(gap_s(2000, 4000), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_lasts_at_least_3_s),
        cmocka_unit_test(a_few_usual_intervals_without_scrapes_are_not_a_gap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
