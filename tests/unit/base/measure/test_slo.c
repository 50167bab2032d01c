/* SPDX-License-Identifier: Apache-2.0 */
#include "base/measure/slo.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct measurement successful_measurement(void)
{
    struct measurement m = { .attempted = 1000, .succeeded = 1000, .success_rate = 1 };

    for (int i = 0; i < METRIC_COUNT; i++)
        m.latency[i] = (struct latency_summary){ .count = 1000 };
    m.latency[METRIC_TTFT].p50_ms = 40;
    m.latency[METRIC_TTFT].p99_ms = 80;
    m.latency[METRIC_TPOT].p99_ms = 30;
    m.latency[METRIC_E2E].p99_ms = 900;
    return m;
}

static struct slo read_limits(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    struct slo limits;

    slo_from_plan(json, &limits);
    json_decref(json);
    return limits;
}

static void finds_the_limit_that_is_nearest_or_exceeded_most(void **state)
{
    const struct slo limits =
        read_limits("{\"limit_ttft_ms\":160,\"limit_tpot_ms\":40.0,\"limit_e2e_ms\":10000}");
    struct measurement m = successful_measurement();
    struct slo_nearest nearest = slo_find_nearest(&limits, &m);

    (void)state;
    assert_true(slo_are_stated(&limits));
    assert_string_equal(nearest.name, "TPOT");
    assert_true(nearest.ratio == 0.75 && nearest.value == 30 && nearest.limit == 40);
    m.latency[METRIC_E2E].p99_ms = 20000;
    nearest = slo_find_nearest(&limits, &m);
    assert_string_equal(nearest.name, "E2E");
    assert_true(nearest.ratio == 2);
}

static void the_plan_can_choose_the_percentile(void **state)
{
    const struct slo limits = read_limits("{\"limit_ttft_ms\":50,\"limit_percentile\":\"p50\"}");
    const struct measurement m = successful_measurement();

    (void)state;
    assert_true(slo_find_nearest(&limits, &m).ratio == 0.8);
}

static void a_percentile_that_is_cut_off_or_missing_meets_no_limit(void **state)
{
    const struct slo limits = read_limits("{\"limit_ttft_ms\":1000}");
    struct measurement m = successful_measurement();

    (void)state;
    m.latency[METRIC_TTFT].p99_censored = true;
    assert_true(isinf(slo_find_nearest(&limits, &m).ratio));
    m = successful_measurement();
    m.latency[METRIC_TTFT] = (struct latency_summary){ .p99_ms = NAN };
    assert_true(isinf(slo_find_nearest(&limits, &m).ratio));
}

static void one_percent_of_requests_may_fail_unless_the_plan_sets_another_limit(void **state)
{
    struct slo limits = read_limits("{\"limit_ttft_ms\":1000}");
    struct measurement m = successful_measurement();

    (void)state;
    m.succeeded = 990;
    m.success_rate = 0.99;
    assert_true(slo_find_nearest(&limits, &m).ratio < 1);
    limits = read_limits("{\"limit_error_rate\":0.005}");
    assert_true(slo_are_stated(&limits));
    assert_true(isinf(slo_find_nearest(&limits, &m).ratio));
    assert_string_equal(slo_find_nearest(&limits, &m).name, "error rate");
    /* Whatever the limit, at least one request must succeed. */
    limits.error_rate = 1;
    m.succeeded = 0;
    m.success_rate = 0;
    assert_true(isinf(slo_find_nearest(&limits, &m).ratio));
}

static void old_plans_state_no_limits(void **state)
{
    const struct slo limits = read_limits("{\"goodput_ttft_ms\":100}");

    (void)state;
    assert_false(slo_are_stated(&limits));
    assert_int_equal(limits.percentile, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_limit_that_is_nearest_or_exceeded_most),
        cmocka_unit_test(the_plan_can_choose_the_percentile),
        cmocka_unit_test(a_percentile_that_is_cut_off_or_missing_meets_no_limit),
        cmocka_unit_test(one_percent_of_requests_may_fail_unless_the_plan_sets_another_limit),
        cmocka_unit_test(old_plans_state_no_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
