/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <time.h>

#include "base/core/clock.h"

static void writes_utc_as_iso_8601(void **state)
{
    char text[CLOCK_TEXT_SIZE];

    (void)state;
    assert_string_equal(clock_format_utc(0, text), "1970-01-01T00:00:00.000Z");
    assert_string_equal(clock_format_utc(1795230686123, text), "2026-11-21T03:11:26.123Z");
    assert_string_equal(clock_format_utc(1709164800009, text), "2024-02-29T00:00:00.009Z");
}

/* Compares with the C library's output for one moment on every day from 1970 to 2399. */
static void writes_every_day_as_the_c_library_does(void **state)
{
    char text[CLOCK_TEXT_SIZE], expected[CLOCK_TEXT_SIZE];

    (void)state;
    for (time_t day = 0; day < 157054; day++) {
        time_t second = day * 86400 + day * 7919 % 86400;
        struct tm parts;

        gmtime_r(&second, &parts);
        strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S.007Z", &parts);
        assert_string_equal(clock_format_utc((int64_t)second * 1000 + 7, text), expected);
    }
}

static void clamps_times_before_1970_and_after_9999(void **state)
{
    char text[CLOCK_TEXT_SIZE];

    (void)state;
    assert_string_equal(clock_format_utc(INT64_MIN, text), "1970-01-01T00:00:00.000Z");
    assert_string_equal(clock_format_utc(INT64_MAX, text), "9999-12-31T23:59:59.999Z");
}

static void wall_time_is_the_system_time(void **state)
{
    int64_t before = (int64_t)time(NULL) - 1;
    int64_t now = clock_utc_ms() / 1000;

    (void)state;
    assert_in_range(now, before, time(NULL) + 1);
}

static void monotonic_time_never_goes_back(void **state)
{
    int64_t last = clock_monotonic_ns();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_monotonic_ns();

        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_utc_as_iso_8601),
        cmocka_unit_test(writes_every_day_as_the_c_library_does),
        cmocka_unit_test(clamps_times_before_1970_and_after_9999),
        cmocka_unit_test(wall_time_is_the_system_time),
        cmocka_unit_test(monotonic_time_never_goes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
