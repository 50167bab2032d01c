/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/core/timeline.h"

#define HOUR_MS (60 * 60 * 1000LL)
#define DAY_MS (24 * HOUR_MS)
#define T0 (20000 * DAY_MS) /* the wall time when a test begins, or when the server last ran */
#define UP (3 * DAY_MS)     /* the machine's uptime when a test begins */

static struct timeline begun(int64_t seen_ms, int64_t wall_ms)
{
    const struct timeline_memory memory = { .seen_ms = seen_ms };
    struct timeline timeline;

    timeline_begin(&timeline, &memory, wall_ms, UP);
    return timeline;
}

static void a_clock_that_runs_steadily_is_trusted(void **state)
{
    struct timeline timeline = begun(0, T0);

    (void)state;
    for (int64_t ran = 0; ran < 10 * DAY_MS; ran += HOUR_MS) {
        struct timeline_verdict verdict = timeline_judge(&timeline, T0 + ran, UP + ran);

        assert_true(verdict.now_ms == T0 + ran && verdict.ahead_ms == 0 && verdict.waits_ms == 0);
    }
}

static void small_corrections_are_trusted_at_once(void **state)
{
    struct timeline timeline = begun(0, T0);

    (void)state;
    assert_true(timeline_judge(&timeline, T0 + 23 * HOUR_MS, UP).now_ms == T0 + 23 * HOUR_MS);
    assert_true(timeline_judge(&timeline, T0 - HOUR_MS, UP).now_ms == T0 - HOUR_MS);
}

static void a_jump_is_trusted_only_after_a_day(void **state)
{
    struct timeline timeline = begun(0, T0);
    int64_t jumped_ms = T0 + 400 * DAY_MS;
    struct timeline_verdict verdict = timeline_judge(&timeline, jumped_ms + HOUR_MS, UP + HOUR_MS);

    (void)state;
    assert_true(verdict.now_ms == T0 + HOUR_MS);
    assert_true(verdict.ahead_ms == 400 * DAY_MS);
    assert_true(verdict.waits_ms == DAY_MS);
    verdict = timeline_judge(&timeline, jumped_ms + 24 * HOUR_MS, UP + 24 * HOUR_MS);
    assert_true(verdict.now_ms == T0 + 24 * HOUR_MS && verdict.waits_ms == HOUR_MS);
    verdict = timeline_judge(&timeline, jumped_ms + 25 * HOUR_MS, UP + 25 * HOUR_MS);
    assert_true(verdict.now_ms == jumped_ms + 25 * HOUR_MS && verdict.waits_ms == 0);
}

static void a_jump_that_is_undone_has_no_effect(void **state)
{
    struct timeline timeline = begun(0, T0);

    (void)state;
    assert_true(timeline_judge(&timeline, T0 + 400 * DAY_MS, UP).now_ms == T0);
    assert_true(timeline_judge(&timeline, T0 + 70000, UP + 70000).now_ms == T0 + 70000);
    assert_true(timeline_judge(&timeline, T0 + 400 * DAY_MS, UP + 80000).waits_ms == DAY_MS);
}

/* Each jump is shorter than a day. */
static void small_jumps_that_add_up_to_more_than_a_day_are_not_trusted(void **state)
{
    struct timeline timeline = begun(0, T0);
    struct timeline_verdict verdict = { 0 };

    (void)state;
    for (int i = 0; i < 400; i++)
        verdict = timeline_judge(&timeline, T0 + i * 23 * HOUR_MS, UP + i * 60000);
    assert_in_range(verdict.now_ms, T0, T0 + 2 * DAY_MS);
}

/* After a jump, the clock must run steadily for a day to be trusted. */
static void a_clock_that_keeps_jumping_is_never_trusted(void **state)
{
    struct timeline timeline = begun(0, T0);

    (void)state;
    for (int64_t ran = 0; ran < 10 * DAY_MS; ran += HOUR_MS) {
        int64_t wall_ms = T0 + (400 + ran / HOUR_MS % 2 * 100) * DAY_MS + ran;

        assert_true(timeline_judge(&timeline, wall_ms, UP + ran).now_ms == T0 + ran);
    }
}

static void the_time_of_a_clock_that_was_set_back_is_used_at_once(void **state)
{
    struct timeline timeline = begun(0, T0);
    struct timeline_verdict verdict = timeline_judge(&timeline, T0 - 400 * DAY_MS, UP);

    (void)state;
    assert_true(verdict.now_ms == T0 - 400 * DAY_MS && verdict.ahead_ms == 0);
    verdict = timeline_judge(&timeline, T0 + 70000, UP + 70000);
    assert_true(verdict.now_ms == T0 + 70000 && verdict.waits_ms == 0);
}

static void a_server_that_was_off_for_long_trusts_its_clock_after_a_day(void **state)
{
    struct timeline timeline = begun(T0, T0 + 400 * DAY_MS);
    struct timeline_verdict verdict = timeline_judge(&timeline, T0 + 400 * DAY_MS, UP);

    (void)state;
    assert_true(verdict.now_ms == T0 && verdict.ahead_ms == 400 * DAY_MS);
    verdict = timeline_judge(&timeline, T0 + 401 * DAY_MS, UP + DAY_MS);
    assert_true(verdict.now_ms == T0 + 401 * DAY_MS);
    timeline = begun(T0, T0 + 20 * HOUR_MS); /* off for less than a day */
    assert_true(timeline_judge(&timeline, T0 + 20 * HOUR_MS, UP).now_ms == T0 + 20 * HOUR_MS);
}

/* The clock is eventually trusted even if the server never runs for a whole day without a
 * restart. */
static void running_time_adds_up_across_restarts(void **state)
{
    struct timeline timeline = begun(T0, T0 + 400 * DAY_MS);
    int64_t wall_ms = T0 + 400 * DAY_MS, uptime_ms = UP;
    struct timeline_verdict verdict = timeline_judge(&timeline, wall_ms, uptime_ms);

    (void)state;
    for (int day = 0; day < 3; day++) {
        assert_true(verdict.waits_ms > 0);
        wall_ms += 8 * HOUR_MS;
        uptime_ms += 8 * HOUR_MS;
        verdict = timeline_judge(&timeline, wall_ms, uptime_ms);
        struct timeline_memory memory = timeline_remember(&timeline, wall_ms, uptime_ms);
        wall_ms += 16 * HOUR_MS;
        uptime_ms = 1000; /* the machine was off */
        timeline_begin(&timeline, &memory, wall_ms, uptime_ms);
    }
    assert_true(verdict.waits_ms == 0 && verdict.now_ms == wall_ms - 16 * HOUR_MS);
    assert_true(timeline_judge(&timeline, wall_ms, uptime_ms).now_ms == wall_ms);
}

static void a_confirmed_clock_is_trusted_at_once(void **state)
{
    struct timeline timeline = begun(T0, T0 + 400 * DAY_MS);

    (void)state;
    assert_true(timeline_judge(&timeline, T0 + 400 * DAY_MS, UP).ahead_ms > 0);
    timeline_accept(&timeline, T0 + 400 * DAY_MS, UP);
    assert_true(timeline_judge(&timeline, T0 + 400 * DAY_MS, UP).now_ms == T0 + 400 * DAY_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_that_runs_steadily_is_trusted),
        cmocka_unit_test(small_corrections_are_trusted_at_once),
        cmocka_unit_test(a_jump_is_trusted_only_after_a_day),
        cmocka_unit_test(a_jump_that_is_undone_has_no_effect),
        cmocka_unit_test(small_jumps_that_add_up_to_more_than_a_day_are_not_trusted),
        cmocka_unit_test(a_clock_that_keeps_jumping_is_never_trusted),
        cmocka_unit_test(the_time_of_a_clock_that_was_set_back_is_used_at_once),
        cmocka_unit_test(a_server_that_was_off_for_long_trusts_its_clock_after_a_day),
        cmocka_unit_test(running_time_adds_up_across_restarts),
        cmocka_unit_test(a_confirmed_clock_is_trusted_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
