/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the judgement of whether a late client makes figures wrong, and which ones. */
#include "bench/cell/lateness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Each request takes a second: its first token comes after 100 ms, then one every 20 ms. The client
 * is late by less than a millisecond. */
static struct measurement on_time(void)
{
    struct measurement measurement = { .lag_p50_ms = 0.05,
                                       .lag_mean_ms = 0.1,
                                       .lag_p99_ms = 0.5,
                                       .start_lag_mean_ms = 0.1,
                                       .cpu_percent = 20,
                                       .cpu_wait_percent = 0.1 };

    measurement.latency[METRIC_E2E] = (struct latency_summary){ .count = 100, .mean_ms = 1000 };
    measurement.latency[METRIC_TTFT] =
        (struct latency_summary){ .count = 100, .mean_ms = 100, .p99_ms = 150 };
    measurement.latency[METRIC_ICL] =
        (struct latency_summary){ .count = 4500, .p50_ms = 20, .p99_ms = 25 };
    return measurement;
}

static void a_client_that_is_on_time_is_not_the_bottleneck(void **state)
{
    struct measurement measurement = on_time();

    (void)state;
    lateness_judge(&measurement, false);
    assert_false(measurement.client_limited || measurement.client_late);
    assert_true(measurement.error_share < 0.001);
}

/* The client is occasionally 12 ms late: the means are right, but the 99th percentile is not. */
static void a_few_late_reads_make_only_the_tail_wrong(void **state)
{
    struct measurement measurement = on_time();

    (void)state;
    measurement.lag_p99_ms = 12;
    measurement.lag_mean_ms = 0.8;
    lateness_judge(&measurement, false);
    assert_false(measurement.client_limited);
    assert_true(measurement.client_late);
    assert_false(measurement.machine_busy);
    assert_float_equal(measurement.error_share, 0.0009, 1e-9);
}

static void
a_client_that_makes_rates_means_or_medians_wrong_or_is_busy_is_the_bottleneck(void **state)
{
    struct measurement rounds = on_time(), first = on_time(), gaps = on_time(), busy = on_time();

    (void)state;
    rounds.start_lag_mean_ms = 30;
    lateness_judge(&rounds, false);
    assert_true(rounds.client_limited);
    first.lag_mean_ms = 3;
    lateness_judge(&first, false);
    assert_true(first.client_limited);
    assert_float_equal(first.error_share, 0.03, 1e-9);
    gaps.lag_p50_ms = 0.8;
    lateness_judge(&gaps, false);
    assert_true(gaps.client_limited);
    busy.cpu_percent = 90;
    lateness_judge(&busy, false);
    assert_true(busy.client_limited && !busy.machine_busy);
}

/* In an open loop, latencies count from the scheduled time, so TTFT includes the delay before a
 * late request is sent. */
static void ttft_includes_the_delay_of_a_late_send_only_in_an_open_loop(void **state)
{
    struct measurement closed = on_time(), open = on_time();

    (void)state;
    closed.start_lag_mean_ms = open.start_lag_mean_ms = 5;
    lateness_judge(&closed, false);
    lateness_judge(&open, true);
    assert_false(closed.client_limited);
    assert_true(open.client_limited);
}

static void the_machine_is_busy_if_a_late_client_waited_for_a_cpu(void **state)
{
    struct measurement measurement = on_time(), late = on_time();

    (void)state;
    measurement.cpu_wait_percent = 15;
    lateness_judge(&measurement, false);
    assert_false(measurement.machine_busy); /* the client was not late, so no figure is wrong */
    late.cpu_wait_percent = 15;
    late.lag_p99_ms = 8;
    lateness_judge(&late, false);
    assert_true(late.client_late && late.machine_busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_that_is_on_time_is_not_the_bottleneck),
        cmocka_unit_test(a_few_late_reads_make_only_the_tail_wrong),
        cmocka_unit_test(
            a_client_that_makes_rates_means_or_medians_wrong_or_is_busy_is_the_bottleneck),
        cmocka_unit_test(ttft_includes_the_delay_of_a_late_send_only_in_an_open_loop),
        cmocka_unit_test(the_machine_is_busy_if_a_late_client_waited_for_a_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
