/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/formats/promtext.h"
#include "server/telemetry/telemetry.h"

static bool count_sample(void *context, const struct promtext_sample *sample)
{
    (void)sample;
    ++*(int *)context;
    return true;
}

static void requests_durations_and_errors_are_reported_for_each_row_that_was_used(void **state)
{
    struct telemetry *telemetry = telemetry_create();
    struct telemetry_row *list = telemetry_add_row(telemetry, "tools/list", NULL);
    struct telemetry_row *echo = telemetry_add_row(telemetry, "tools/call", "echo");
    TEXT_AUTO text = { 0 };
    size_t skipped = 0;
    int samples = 0;

    (void)state;
    telemetry_add_row(telemetry, "ping", NULL);
    telemetry_record(list, 200, 2000000);
    telemetry_record(list, 404, 200000000);
    telemetry_record(echo, 200, -1);
    telemetry_record(echo, 200, INT64_C(3600000000000));
    telemetry_record_tool_error(echo);
    telemetry_write(telemetry, &text);
    assert_non_null(
        strstr(text.data, "opsbrain_requests_total{method=\"tools/list\",status=\"2xx\"} 1"));
    assert_non_null(
        strstr(text.data, "opsbrain_requests_total{method=\"tools/list\",status=\"4xx\"} 1"));
    assert_non_null(
        strstr(text.data,
               "opsbrain_requests_total{method=\"tools/call\",tool=\"echo\",status=\"2xx\"} 2"));
    assert_non_null(
        strstr(text.data, "opsbrain_tool_errors_total{method=\"tools/call\",tool=\"echo\"} 1"));
    assert_non_null(
        strstr(text.data, "opsbrain_request_seconds_bucket{method=\"tools/list\",le=\"0.003\"} 1"));
    assert_non_null(
        strstr(text.data, "opsbrain_request_seconds_bucket{method=\"tools/list\",le=\"+Inf\"} 2"));
    assert_non_null(
        strstr(text.data,
               "opsbrain_request_seconds_bucket{method=\"tools/call\",tool=\"echo\",le=\"60\"} 0"));
    assert_non_null(
        strstr(text.data, "opsbrain_request_seconds_count{method=\"tools/call\",tool=\"echo\"} 1"));
    assert_null(strstr(text.data, "ping"));
    assert_true(promtext_read(text.data, text.length, count_sample, &samples, &skipped));
    assert_int_equal(skipped, 0);
    assert_true(samples > 20);
    telemetry_destroy(telemetry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_durations_and_errors_are_reported_for_each_row_that_was_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
